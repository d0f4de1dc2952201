"""The tables of an export: columns, their types, and rows as Arrow; without Spark or a connection.

| type      | Parquet and Spark        | in JSON and CSV             |
|-----------|--------------------------|-----------------------------|
| string    | string                   | text                        |
| long      | 64 bit integer           | number                      |
| duration  | 64 bit integer, ns       | number, ns                  |
| boolean   | boolean                  | true, false                 |
| timestamp | timestamp in UTC, to the µs | `2026-11-21T06:57:05.000000Z` |
| date      | date; the partition      | folder `date=2026-11-21`    |

A duration is a long of nanoseconds, because Parquet has no interval type that Spark, pyarrow and others agree
on. Unknown values are null.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jsctl.base.units import to_datetime

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal["string", "long", "duration", "boolean", "timestamp", "date"]

_DDL = {"long": "bigint", "duration": "bigint"}
"""Types with another name in Spark's DDL."""

PARTITION = "date"


class Column(NamedTuple):
    """A column. about: its description in the documentation, with the unit."""

    name: str
    type: Type
    about: str

    def convert(self, value: Any) -> Any:
        """Return a value as the table has it; see `TableSchema.to_arrow`."""
        if value is None:
            return None
        if self.type == "timestamp":
            moment = to_datetime(value)
            return moment if moment.year > 1 else None
        if self.type in ("long", "duration"):
            return int(value)
        return bool(value) if self.type == "boolean" else str(value)


class TableSchema(NamedTuple):
    """A table of an export, in the folder of its name. A last column, `date`, is derived from
    `sampled_at`."""

    name: str
    columns: Sequence[Column]

    def build_ddl(self) -> str:
        """Return the schema as Spark's DDL: `sampled_at timestamp, ...`."""
        columns = [*self.columns, Column(PARTITION, "date", "")]
        return ", ".join(f"`{column.name}` {_DDL.get(column.type, column.type)}" for column in columns)

    def to_arrow(self, rows: Iterable[Mapping[str, Any]]) -> "pa.Table":
        """Return rows as an Arrow table. Missing values are null; values without a column are left out.

        rows: values by column name. Times are aware datetimes or RFC 3339 text; the server's zero time (year
        1) is null.
        """
        import pyarrow as pa

        types = {
            "string": pa.string(),
            "long": pa.int64(),
            "duration": pa.int64(),
            "boolean": pa.bool_(),
            "timestamp": pa.timestamp("us", tz="UTC"),
        }
        records = list(rows)
        data = {
            column.name: pa.array(
                [column.convert(row.get(column.name)) for row in records], types[column.type]
            )
            for column in self.columns
        }
        data[PARTITION] = pa.array([to_datetime(row["sampled_at"]).date() for row in records], pa.date32())
        return pa.table(data)
