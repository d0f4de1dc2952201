"""Writer of nats-server's configuration format."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z_][\w-]*")


def format_config(options: Mapping[str, Any], includes: Sequence[str] = ()) -> str:
    """Return a configuration for `nats-server -c`, one option a line. includes: paths, at the end."""
    lines = [*_format_block(options, ""), *(f"include {path}" for path in includes)]
    return "\n".join(lines) + "\n"


def _format_block(options: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in options.items():
        name = key if _BARE.fullmatch(key) else json.dumps(key)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name} {{"
            yield from _format_block(value, f"{indent}    ")
            yield f"{indent}}}"
        elif isinstance(value, list) and value:
            yield f"{indent}{name}: ["
            yield from (f"{indent}    {_format_value(item)}" for item in value)
            yield f"{indent}]"
        else:
            yield f"{indent}{name}: {_format_value(value)}"


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{json.dumps(key)}: {_format_value(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    return json.dumps(value)
