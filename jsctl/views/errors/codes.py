"""`errors ls` and `errors lookup`: errors of the JetStream API."""

from collections.abc import Sequence

from jsctl.jetstream.error_catalog import Code
from jsctl.views.result import Column, Field, InfoPage, Part, Result, Section, Table, Text

COLUMNS = (
    Column("NATS Code", "error_code", "number"),
    Column("HTTP Error Code", "code", "number"),
    Column("Description", "description", "prose"),
    Column("Comment", "comment", "prose", hideable=1),
    Column("Go Constant", "constant", hideable=2),
)


def listing(entries: Sequence[Code]) -> Result:
    """Show errors in a table; the JSON document has all fields."""
    rows = [[entry.get(column.key, "") for column in COLUMNS] for entry in entries]
    return Result([Table("NATS Errors", COLUMNS, rows)], data=list(entries))


def details(entry: Code, hint: str) -> Result:
    """Show one error. hint: what jsctl advises."""
    fields = [
        Field(label, entry[key])
        for label, key in (
            ("Description", "description"),
            ("Comment", "comment"),
            ("HTTP Code", "code"),
            ("Go Index Constant", "constant"),
            ("Help URL", "url"),
        )
        if entry.get(key)
    ]
    help = "\n".join(filter(None, (str(entry.get("help") or ""), hint)))
    heading = f"NATS Error Code: {entry['error_code']}"
    parts: list[Part] = [
        InfoPage(heading, [Section("", fields)]),
        Text(help or "No further information available"),
    ]
    return Result(parts, data={**entry, "hint": hint} if hint else entry)
