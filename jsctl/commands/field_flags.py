"""Flags made from fields of a configuration, for streams and consumers alike."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jsctl.commands.cli import DURATION, SIZE, option
from jsctl.jetstream.fields import Field

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


def field_option(field: Field) -> Callable[[F], F]:
    """The flag of one field; None or () when it was not given."""
    name, flag = parameter(field.flag), f"--{field.flag}"
    plain: dict[str, Any] = {"default": None, "help": field.help}
    match field.kind:
        case "switch" | "inverse":
            return option(
                f"{flag}/--no-{field.flag}" if field.negatable else flag, name, is_flag=True, **plain
            )
        case "texts" | "subjects":
            return option(flag, name, multiple=True, metavar=field.flag.rstrip("s").upper(), **plain)
        case "map":
            return option(flag, name, multiple=True, metavar="KEY=VALUE", **plain)
        case "origins":
            return option(flag, name, multiple=True, metavar="STREAM", **plain)
        case "origin":
            return option(flag, name, metavar="STREAM", **plain)
        case "choice":
            return option(flag, name, type=click.Choice(list(field.choices), case_sensitive=False), **plain)
        case "span":
            return option(flag, name, type=Span(), metavar="DURATION", **plain)
        case "size":
            return option(flag, name, type=SIZE, metavar="BYTES", **plain)
        case "limit":
            return option(flag, name, type=Limit(), metavar="NUMBER", **plain)
        case "integer":
            return option(flag, name, type=int, metavar="NUMBER", **plain)
        case "number":
            return option(flag, name, type=click.IntRange(min=0), metavar="NUMBER", **plain)
        case _:
            return option(flag, name, metavar="TEXT", **plain)
