"""The tables of an export as data: columns, their types, and rows to Arrow. No Spark, no connection.

| type      | Parquet and Spark        | in JSON and CSV             |
|-----------|--------------------------|-----------------------------|
| string    | string                   | text                        |
| long      | 64 bit integer           | number                      |
| duration  | 64 bit integer, ns       | number, ns                  |
| boolean   | boolean                  | true, false                 |
| timestamp | timestamp in UTC, to the µs | `2026-11-21T06:57:05.000000Z` |
| date      | date; the partition      | folder `date=2026-11-21`    |

A duration is a long of nanoseconds, not an interval: Parquet has no type for intervals that Spark, pyarrow
and others agree on. What is unknown is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jsctl.units import to_datetime

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal["string", "long", "duration", "boolean", "timestamp", "date"]

_DDL = {
    "string": "string",
    "long": "bigint",
    "duration": "bigint",
    "boolean": "boolean",
    "timestamp": "timestamp",
    "date": "date",
}

PARTITION = "date"


class Column(NamedTuple):
    """A column; `about` is its line in the documentation, units included."""

    name: str
    type: Type
    about: str


class TableSchema(NamedTuple):
    """A table of an export; its folder has its name. The last column, `date`, is from `sampled_at`."""

    name: str
    columns: Sequence[Column]

    def ddl(self) -> str:
        """The schema in Spark's words: `sampled_at timestamp, ...`."""
        columns = [*self.columns, Column(PARTITION, "date", "")]
        return ", ".join(f"`{column.name}` {_DDL[column.type]}" for column in columns)

    def arrow(self, rows: Iterable[Mapping[str, Any]]) -> "pa.Table":
        """Rows, by column name, as Arrow. What a row lacks is null; what it has beyond is left out.

        Times are aware datetimes or RFC 3339 texts; the server's zero time (year 1) is null.
        """
        import pyarrow as pa

        types = {
            "string": pa.string(),
            "long": pa.int64(),
            "duration": pa.int64(),
            "boolean": pa.bool_(),
            "timestamp": pa.timestamp("us", tz="UTC"),
            "date": pa.date32(),
        }
        kept = list(rows)
        data = {
            column.name: pa.array(
                [_value(row.get(column.name), column.type) for row in kept], types[column.type]
            )
            for column in self.columns
        }
        data[PARTITION] = pa.array([_moment(row["sampled_at"]).date() for row in kept], pa.date32())
        return pa.table(data)


def _value(value: Any, type: Type) -> Any:
    if value is None:
        return None
    if type == "timestamp":
        moment = _moment(value)
        return moment if moment.year > 1 else None
    if type in ("long", "duration"):
        return int(value)
    return bool(value) if type == "boolean" else str(value)


def _moment(value: Any) -> datetime:
    return to_datetime(value)
