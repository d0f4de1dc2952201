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
