"""`--columns` and `--filter`, which every verb that shows a table takes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from jsctl.commands.cli.global_flags import VerbOption

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from jsctl.views.result import Column
    from jsctl.views.selection import Selection


class RowFlag(VerbOption):
    """A flag that chooses from a table. columns: of the table, as far as they are known before."""

    def __init__(self, *names: str, columns: "Sequence[Column]", **attrs: Any) -> None:
        super().__init__(*names, default="", **attrs)
        self.columns = columns

    @property
    def keys(self) -> list[str]:
        """The names that it takes."""
        return [key for column in self.columns for key in column.data_keys]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the last of several names."""
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        used = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{key}")
            for key in self.keys
            if key.startswith(last) and key not in used
        ]


def build_row_flags(columns: "Sequence[Column]") -> list[RowFlag]:
    """Return the flags of a verb that shows a table with these columns."""
    return [
        RowFlag(
            "--columns",
            "chosen_columns",
            metavar="KEY,...",
            columns=columns,
            callback=_choose_columns,
            help="Show only these columns, by their names in --as csv, in this order",
        ),
        RowFlag(
            "--filter",
            "chosen_rows",
            metavar="EXPRESSION",
            columns=columns,
            callback=_choose_rows,
            help="Show only the rows for which this holds, such as KEY > 10 and KEY contains 'a'",
        ),
    ]


def _find_selection(ctx: click.Context, param: click.Parameter) -> "Selection":
    from jsctl.views.selection import Selection  # only where it is needed

    return ctx.obj.flags.get("selection") or Selection(
        known=param.columns if isinstance(param, RowFlag) else ()
    )


def _choose_columns(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if not value or ctx.obj is None:
        return
    columns = [name.strip() for name in value.split(",") if name.strip()]
    ctx.obj.flags["selection"] = _find_selection(ctx, param)._replace(columns=columns)


def _choose_rows(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if not value or ctx.obj is None:
        return
    from jsctl.jetstream.find.expression import compile_expression  # only where it is needed

    try:
        condition = compile_expression(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    ctx.obj.flags["selection"] = _find_selection(ctx, param)._replace(condition=condition, text=value)
