"""The error codes that jsctl acts on are the server's."""

import re

from jsctl import registry
from jsctl.jetstream import error_catalog, error_hints
from jsctl.nats.error_codes import ErrorCode


def name(constant: str) -> str:
    """The name of an error: `JSStreamWrongLastSequenceErrF` is STREAM_WRONG_LAST_SEQUENCE."""
    short = re.sub(r"(?:ErrF|Err|(?<=[a-z])F)$", "", constant.removeprefix("JS"))
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short).upper()


def test_they_are_in_the_servers_list() -> None:
    codes = {key: value for key, value in vars(ErrorCode).items() if key.isupper()}
    listed = {name(entry["constant"]): entry["error_code"] for entry in error_catalog.load()}
    assert codes and codes.items() <= listed.items()


def test_every_noun_names_a_code() -> None:
    nouns = [noun.error for noun in registry.list_nouns() if noun.error]
    assert nouns and all(hasattr(ErrorCode, noun) for noun in nouns)
    assert error_hints.find_hint(ErrorCode.STREAM_NOT_FOUND).startswith("jsctl stream ls ")
