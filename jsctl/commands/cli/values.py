"""Types of flags: durations and sizes, and others that a function parses."""

import re
from collections.abc import Callable
from typing import Any

import click

from jsctl.errors import BadInput


class Parsed(click.ParamType[Any]):
    """A value that a function parses, which raises ValueError or BadInput. may_be_blank: see `Option`."""

    def __init__(self, name: str, parse: Callable[[str], Any], *, may_be_blank: bool = False) -> None:
        self.name = name
        self.may_be_blank = may_be_blank
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except (ValueError, BadInput) as error:
            self.fail(str(error), param, ctx)


class Count(click.IntRange):
    """A number of messages, also written as `1e6`, as `nats` takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str):
            digits, mark, zeros = value.partition("e")
            if mark and digits.isdecimal() and zeros.isdecimal() and int(zeros) < 19:
                value = digits + "0" * int(zeros)
        return super().convert(value, param, ctx)


def parse_duration(text: str) -> int:
    """Return a duration such as `1h30m` in ns. Raises ValueError."""
    from jsctl.base import units

    return units.parse_duration(text)


def parse_interval(text: str) -> int:
    """Return a duration such as `500ms`, or a number of seconds, as `nats` takes it, in ns."""
    return parse_duration(f"{text}s" if text.replace(".", "", 1).isdecimal() else text)


def parse_size(text: str) -> int:
    """Return a size such as `1GB` in bytes, -1 for unlimited. Raises ValueError."""
    from jsctl.base import units

    return units.parse_bytes(text)


DURATION = Parsed("duration", parse_duration)
OPTIONAL_DURATION = Parsed("duration", parse_duration, may_be_blank=True)
"""A duration that is not given if it is empty, as `"$AGE"` in a script may be."""
INTERVAL = Parsed("duration", parse_interval)
SIZE = Parsed("size", parse_size, may_be_blank=True)


def check_integers(ctx: click.Context) -> None:
    """Raise BadParameter for a whole number of more than 64 bits: nothing counts further."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if isinstance(param.type, click.types.IntParamType) and isinstance(value, int) and value >> 63 > 0:
            raise click.BadParameter(f"{value} is larger than a signed 64 bit number", ctx, param)


_KINDS = {"integer": "a whole number", "float": "a number", "boolean": "true or false"}


def name_kinds(message: str) -> str:
    """Return a message of click with our words for what a value has to be, such as a whole number."""
    return re.sub(
        r"is not a valid (integer|float|boolean)( range)?(\. Recognized values: .*|\.)?",
        lambda match: f"is not {_KINDS[match[1]]}",
        message,
    )
