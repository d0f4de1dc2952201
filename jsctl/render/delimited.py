"""CSV and TSV: one table of raw values, for spreadsheets and programs.

An unknown value is empty; durations are whole ns, as their heading says. Text stays unchanged, including
control characters, except on a terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from jsctl.base.json_text import encode_json
from jsctl.errors import BadInput
from jsctl.render.text import clean_lines
from jsctl.views.result import Cell, Result

TABLES = ("csv", "tsv")
"""The forms that this module writes."""


class Delimiters(NamedTuple):
    """The form of the values. safe: whether control characters are escaped, for a terminal. heading_written:
    whether the heading was written before.
    """

    separator: str
    safe: bool = False
    heading_written: bool = False


def write(result: Result, out: TextIO, delimiters: Delimiters) -> list[str]:
    """Write the first table of a result, or without one its data: a row for each record of a list or each
    value of a document.

    Returns the titles of the tables that were not written, as a file can hold only one. Raises BadInput when
    there is no data.
    """
    tables = [result.table] if result.table else result.tables()
    if tables:
        head: Sequence[str] = tables[0].data_head()
        rows: Iterator[Sequence[Any]] = iter(tables[0].data_rows())
    else:
        head, rows = _tabulate_document(result.document())
    import csv  # only where it is needed

    writer = csv.writer(out, delimiter=delimiters.separator, lineterminator="\n")
    if head and not delimiters.heading_written:
        writer.writerow(head)
    writer.writerows([_to_scalar(value, delimiters.safe) for value in row] for row in rows)
    return [table.title for table in tables[1:]]


def write_values(heading: str, values: Sequence[str], out: TextIO, delimiters: Delimiters) -> None:
    """Write a column of texts."""
    import csv  # only where it is needed

    writer = csv.writer(out, delimiter=delimiters.separator, lineterminator="\n")
    if not delimiters.heading_written:
        writer.writerow([heading])
    writer.writerows([_to_scalar(value, delimiters.safe)] for value in values)


def _tabulate_document(document: Any) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    if isinstance(document, Mapping) and document:
        return ("key", "value"), iter(list(_flatten(document)))
    if isinstance(document, (list, Iterator)):
        items = list(document)
        if all(isinstance(item, Mapping) for item in items):
            keys = list(dict.fromkeys(key for item in items for key in item))
            return keys, ([item.get(key) for key in keys] for item in items)
        return ["value"], ([item] for item in items)
    raise BadInput("this command has no data for CSV or TSV", "use --as plain")


def _flatten(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _to_scalar(value: Any, safe: bool) -> Any:
    if isinstance(value, Cell):
        value = value.raw
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict, Iterator)):
        items = list(value) if isinstance(value, Iterator) else value
        value = encode_json(items, default=str)
    elif hasattr(value, "isoformat"):
        return value.isoformat()
    return clean_lines(value) if safe and isinstance(value, str) else value
