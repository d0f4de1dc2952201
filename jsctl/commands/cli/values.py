"""Types of flags: durations and sizes."""

from typing import Any

import click


class Duration(click.ParamType[int]):
    """A duration such as `1h30m`; the value is in ns."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl import units

        try:
            return units.parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType[int]):
    """A size such as `1GB`; the value is in bytes, -1 for unlimited."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl import units

        try:
            return units.parse_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


DURATION = Duration()
SIZE = Size()


def check_integers(ctx: click.Context) -> None:
    """Raise BadParameter for a whole number of more than 64 bits: nothing counts further."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if isinstance(param.type, click.types.IntParamType) and isinstance(value, int) and value >> 63 > 0:
            raise click.BadParameter(f"{value} is larger than a signed 64 bit number", ctx, param)
