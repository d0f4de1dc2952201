"""How add checks, saves and tells of a configuration, for streams and consumers alike."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from jsctl.commands.cli import option
from jsctl.env import Env, read_input
from jsctl.files import write_output
from jsctl.jetstream.api import Json
from jsctl.views.result import Result, Text

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--config", {"metavar": "FILE", "help": "Configuration in JSON or YAML; flags win over it"}),
    ("--validate", {"is_flag": True, "help": "Only check the configuration"}),
    ("--output", {"metavar": "FILE", "help": "Save the configuration (- prints it) instead of creating"}),
    ("--defaults", {"is_flag": True, "help": "Take every default instead of asking"}),
)


def add_flags(function: F) -> F:
    """Add the flags that every add takes; the function gets them as keywords."""
    for name, attrs in reversed(_FLAGS):
        function = option(name, **attrs)(function)
    return function


def read_file(env: Env, flags: Mapping[str, Any], parse: Callable[[str, str], Json]) -> Json:
    """The configuration of --config, read by `parse` (text, file name); empty without one."""
    file = flags["config"]
    return parse(read_input(file, env), file) if file else {}


def asks(env: Env, flags: Mapping[str, Any]) -> bool:
    """Whether the user is asked for what flags leave out."""
    return env.can_ask and not (flags["defaults"] or flags["config"])


def is_local(flags: Mapping[str, Any]) -> bool:
    """Whether nothing is to be created."""
    return bool(flags["validate"] or flags["output"])


def kept(config: Json, what: str, flags: Mapping[str, Any]) -> Result:
    """Say that a configuration is valid, or write it to --output (`-` is stdout). what: "stream ORDERS".
    Raises BadInput."""
    output = flags["output"]
    if flags["validate"]:
        return Result([Text(f"the configuration of {what} is valid")], data=config)
    text = json.dumps(config, indent=2, ensure_ascii=False)
    if output == "-":
        return Result([Text(text)], data=config)
    write_output(output, text + "\n")
    return Result([Text(f"wrote the configuration of {what} to {output}")], data=config)
