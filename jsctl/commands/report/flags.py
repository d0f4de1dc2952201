"""The values of flags of `jsctl report`."""

from typing import Any

import click

from jsctl import registry
from jsctl.commands.cli.values import Parsed
from jsctl.errors import BadInput
from jsctl.views.board import parse_filter


class ReportInterval(Parsed):
    """The type of an interval in ns. It refuses the name of a subcommand in its place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return it in ns; see click.ParamType."""
        if value in registry.list_children("report"):
            path = ctx.command_path if ctx else "report"
            raise click.UsageError(f"--watch is for {path} alone, not for {path} {value}", ctx)
        return super().convert(value, param, ctx)


def validate_filter(text: str) -> str:
    """Return the pattern of --filter. Raises BadInput."""
    try:
        parse_filter(text)
    except ValueError as error:
        raise BadInput(f"--filter: {error}", "write \\ before characters that are meant literally") from None
    return text
