"""`--columns` and `--filter`: some columns and rows of a table, by the names that CSV and JSON have. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.errors import BadInput
from jsctl.views.result import UNSET, Column, LazySequence, Result, Table

Condition = Callable[[Mapping[str, Any]], bool]


class Selection(NamedTuple):
    """What is chosen of a table. columns: names in the order in which they are shown; empty for all.
    condition: holds for the rows that are shown, given as JSON has them; None for all. text: the condition.
    known: the columns that a result without rows has.
    """

    columns: Sequence[str] = ()
    condition: Condition | None = None
    text: str = ""
    known: Sequence[Column] = ()

    def apply(self, result: Result) -> Result:
        """Return the result as the chosen part of the table that CSV has; every form, also JSON, shows its
        rows alone. Raises BadInput for a column that it does not have, or a result without a table."""
        tables = [result.table] if result.table else result.tables()
        if tables:
            table = tables[0]
        elif not result.document():
            table = Table("", self.known, [], empty="nothing to show")
        else:
            raise BadInput("there is no table here", "leave out --columns and --filter")
        if self.condition is not None:
            table = table._replace(rows=list(self._filter_rows(table, self.condition)), footer=None)
        return result._replace(
            parts=[self._choose_columns(table) if self.columns else table], data=UNSET, table=None
        )

    def _filter_rows(self, table: Table, condition: Condition) -> Iterator[Sequence[Any]]:
        """Yield the rows for which the condition holds. It is tried without rows, too: a wrong name is
        found."""
        keys, rows = table.data_head(), table.rows
        try:
            if not rows and keys:
                condition(dict.fromkeys(keys))
            for row, values in zip(rows, table.data_rows(), strict=True):
                if condition(dict(zip(keys, values, strict=True))):
                    yield row
        except ValueError as error:
            raise BadInput(f"--filter {self.text!r}: {error}") from None

    def _choose_columns(self, table: Table) -> Table:
        at = {key: number for number, column in enumerate(table.columns) for key in column.data_keys}
        if not at:
            return table
        if unknown := [name for name in self.columns if name not in at]:
            raise BadInput(f"--columns: there is no column {unknown[0]!r}", f"use some of {', '.join(at)}")
        chosen = [*dict.fromkeys(at[name] for name in self.columns)]

        def choose(row: Sequence[Any]) -> list[Any]:
            return [row[number] for number in chosen]

        return table._replace(
            columns=[table.columns[number]._replace(hideable=0, optional=False) for number in chosen],
            rows=LazySequence(table.rows, choose),
            footer=table.footer and choose(table.footer),
        )
