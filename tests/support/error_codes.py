"""Writes jsctl/nats/error_code_enum.py from the server's list of errors (jsctl/jetstream/api_errors.tsv).

python -m tests.support.error_codes > jsctl/nats/error_code_enum.py
"""

import re

from jsctl.jetstream import error_catalog

_HEAD = '''"""Error codes of the JetStream API, by the server's own names (nats-server 2.15: errors.json).

A name is the server's constant without `JS` and `Err`: `JSStreamNotFoundErr` is STREAM_NOT_FOUND. Written by
`python -m tests.support.error_codes`; `jsctl errors ls` shows what each one means.
"""

from enum import IntEnum


class ErrorCode(IntEnum):
    """`err_code` in the error of an API response."""

'''


def name(constant: str) -> str:
    """Return the name of an error: `JSStreamWrongLastSequenceErrF` is STREAM_WRONG_LAST_SEQUENCE."""
    short = re.sub(r"(?:ErrF|Err|(?<=[a-z])F)$", "", constant.removeprefix("JS"))
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short).upper()


def source() -> str:
    """Return the whole module."""
    entries = error_catalog.load()
    return _HEAD + "".join(f"    {name(one['constant'])} = {one['error_code']}\n" for one in entries)


if __name__ == "__main__":
    print(source(), end="")
