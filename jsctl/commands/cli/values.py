"""Types of flags: durations and sizes."""

from typing import Any

import click


class Duration(click.ParamType[int]):
    """A duration such as `1h30m`; the value is in ns. may_be_blank: see `Option`."""

    name = "duration"

    def __init__(self, *, may_be_blank: bool = False) -> None:
        self.may_be_blank = may_be_blank

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl.base import units

        try:
            return units.parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Interval(Duration):
    """A duration such as `500ms`, or a number of seconds, as `nats` takes it; the value is in ns."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        is_number = isinstance(value, str) and value.replace(".", "", 1).isdecimal()
        return super().convert(f"{value}s" if is_number else value, param, ctx)


class Size(click.ParamType[int]):
    """A size such as `1GB`; the value is in bytes, -1 for unlimited."""

    name = "size"
    may_be_blank = True

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl.base import units

        try:
            return units.parse_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Count(click.IntRange):
    """A number of messages, also written as `1e6`, as `nats` takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str):
            digits, mark, zeros = value.partition("e")
            if mark and digits.isdecimal() and zeros.isdecimal() and int(zeros) < 19:
                value = digits + "0" * int(zeros)
        return super().convert(value, param, ctx)


DURATION = Duration()
OPTIONAL_DURATION = Duration(may_be_blank=True)
"""A duration that is not given if it is empty, as `"$AGE"` in a script may be."""
INTERVAL = Interval()
SIZE = Size()


def check_integers(ctx: click.Context) -> None:
    """Raise BadParameter for a whole number of more than 64 bits: nothing counts further."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if isinstance(param.type, click.types.IntParamType) and isinstance(value, int) and value >> 63 > 0:
            raise click.BadParameter(f"{value} is larger than a signed 64 bit number", ctx, param)
