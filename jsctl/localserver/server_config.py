"""nats-server's configuration format, written."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z_][\w-]*")


def format_config(options: Mapping[str, Any], includes: Sequence[str] = ()) -> str:
    """Return a configuration that `nats-server -c` takes, a line an option. includes: paths, at the end."""
    lines = [*_block(options, ""), *(f"include {path}" for path in includes)]
    return "\n".join(lines) + "\n"


def _block(options: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in options.items():
        name = key if _BARE.fullmatch(key) else json.dumps(key)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name} {{"
            yield from _block(value, f"{indent}    ")
            yield f"{indent}}}"
        elif isinstance(value, list) and value:
            yield f"{indent}{name}: ["
            yield from (f"{indent}    {_value(item)}" for item in value)
            yield f"{indent}]"
        else:
            yield f"{indent}{name}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value)
