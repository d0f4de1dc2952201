"""Types of flags: durations and sizes."""

from typing import Any

import click


class Duration(click.ParamType[int]):
    """ns from `1h30m`."""

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
    """Bytes from `1GB`; -1 is unlimited."""

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
