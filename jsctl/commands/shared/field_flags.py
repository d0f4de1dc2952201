"""Flags made from fields of a configuration, for streams and consumers alike."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, SIZE, option
from jsctl.jetstream.config.fields import Field

F = TypeVar("F", bound=Callable[..., Any])


class Span(click.ParamType[int]):
    """ns from `1y`; -1 means for ever, which the server writes as 0."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return 0 if value == "-1" else DURATION.convert(value, param, ctx)


class Limit(click.ParamType[int]):
    """A count; below 1 means unlimited, which the server writes as -1."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = click.INT.convert(value, param, ctx)
        return number if number > 0 else -1


def parameter(flag: str) -> str:
    """The keyword that a flag arrives as."""
    return flag.replace("-", "_")


_KINDS: Mapping[str, Mapping[str, Any]] = {
    "texts": {"multiple": True},
    "subjects": {"multiple": True},
    "map": {"multiple": True, "metavar": "KEY=VALUE"},
    "origins": {"multiple": True, "metavar": "STREAM"},
    "origin": {"metavar": "STREAM"},
    "span": {"type": Span(), "metavar": "DURATION"},
    "size": {"type": SIZE, "metavar": "BYTES"},
    "limit": {"type": Limit(), "metavar": "NUMBER"},
    "integer": {"type": int, "metavar": "NUMBER"},
    "number": {"type": click.IntRange(min=0), "metavar": "NUMBER"},
    "text": {"metavar": "TEXT"},
}


def field_option(field: Field) -> Callable[[F], F]:
    """The flag of one field; None or () when it was not given."""
    flag, attrs = f"--{field.flag}", dict(_KINDS.get(field.kind, {}))
    match field.kind:
        case "switch" | "inverse":
            flag = f"{flag}/--no-{field.flag}" if field.negatable else flag
            attrs["is_flag"] = True
        case "texts" | "subjects":
            attrs["metavar"] = field.flag.rstrip("s").upper()
        case "choice":
            attrs["type"] = click.Choice(list(field.choices), case_sensitive=False)
    return option(flag, parameter(field.flag), default=None, help=field.help, **attrs)
