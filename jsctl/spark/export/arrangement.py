"""Messages as rows of a Parquet table, in the tasks that read them: decoded payloads, and columns to
partition by.

`jsctl.spark.export.layout` makes the same rows with Spark, for other formats.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsctl.spark.export.layout import TableLayout, parse_partitions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from jsctl.spark.decoding.columns import PayloadColumns
    from jsctl.spark.source.options import ReadOptions

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""Characters that names of partitions do not have (Spark: ExternalCatalogUtils.escapePathName)."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The columns of a table, from those of messages. names: of the message's own columns. payload: makes
    columns of payloads, None if they stay as they are. partition_by: names of the columns to partition by
    (see `parse_partitions`).
    """

    names: tuple[str, ...]
    payload: "PayloadColumns | None"
    partition_by: tuple[str, ...]
    sort_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, layout: TableLayout) -> "Arrangement":
        """Return the arrangement of a layout whose schema is known. Raises BadInput, MissingDependency."""
        names = ("stream", "subject", "sequence", "timestamp", *(("headers",) if layout.headers else ()))
        partitions = [name for name, _ in parse_partitions(layout.partition_by)]
        sort_by = (layout.sort_by,) if layout.sort_by else ()
        if not layout.can_be_bad:
            return cls((*names, "data"), None, tuple(partitions), sort_by)
        from jsctl.spark.decoding.columns import PayloadColumns

        payload = PayloadColumns(layout.decoding, (*names, *partitions), layout.keep_data)
        return cls(names, payload, tuple(partitions), sort_by)

    def build_schema(self, options: "ReadOptions") -> "StructType":
        """Return the columns of the table as Spark sees them. options: how the messages are read."""
        from pyspark.sql.types import DateType, IntegerType, StringType, StructField, StructType

        from jsctl.spark.source.batch_reader import build_spark_schema

        fields = build_spark_schema(options)
        columns = [fields[name] for name in self.names]
        columns += self.payload.schema.fields if self.payload else []
        types = {"date": DateType(), "hour": IntegerType()}
        columns += [StructField(name, types.get(name, StringType())) for name in self.partition_by]
        return StructType(columns)

    def build_arrow_schema(self) -> "pa.Schema":
        """Return the columns of the files."""
        import pyarrow as pa

        from jsctl.spark.source import columns

        fields = [*columns.build_schema(self.names)]
        if self.payload:
            from pyspark.sql.pandas.types import to_arrow_schema

            fields += to_arrow_schema(self.payload.schema, timezone="UTC")
        return pa.schema(fields)

    def arrange(self, messages: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return messages as rows, with the columns to partition by. Raises BadInput."""
        import pyarrow as pa

        columns = [messages[name] for name in self.names]
        names = list(self.names)
        if self.payload:
            columns += self.payload.decode_arrays(messages["data"])
            names += self.payload.schema.names
        columns += [_build_partition_column(messages, name) for name in self.partition_by]
        return pa.RecordBatch.from_arrays(columns, names=[*names, *self.partition_by])

    def split(self, table: "pa.Table") -> "Iterator[tuple[str, pa.Table]]":
        """Yield the path of each partition and its rows, sorted by `sort_by` and sequence."""
        import pyarrow as pa
        import pyarrow.compute as pc

        order = (*self.partition_by, *self.sort_by, "sequence")
        table = table.take(pc.sort_indices(table, sort_keys=[(name, "ascending") for name in order]))
        starts = {0}
        for name in self.partition_by:
            # One array: indices_nonzero of a column without chunks crashes in pyarrow's older versions.
            values = pc.fill_null(table[name].cast(pa.string()), _NO_VALUE).combine_chunks()
            differs = pc.not_equal(values.slice(1), values.slice(0, len(values) - 1))
            starts |= {at + 1 for at in pc.indices_nonzero(differs).to_pylist()}
        bounds = [*sorted(starts), len(table)]
        for first, end in itertools.pairwise(bounds):
            rows = table.slice(first, end - first)
            yield "/".join(f"{name}={_escape(rows[name][0].as_py())}" for name in self.partition_by), rows


def _escape(value: Any) -> str:
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text) or _NO_VALUE


def _build_partition_column(messages: "pa.RecordBatch", name: str) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    if name == "date":
        return messages["timestamp"].cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    if name == "hour":
        return pc.hour(messages["timestamp"]).cast(pa.int32())
    number = int(name.removeprefix("subject_"))
    subjects = messages["subject"].dictionary_encode()
    tokens = [(subject or "").split(".") for subject in subjects.dictionary.to_pylist()]
    values = [tokens[number - 1] if number <= len(tokens) else None for tokens in tokens]
    return pa.array(values, pa.string()).take(subjects.indices)
