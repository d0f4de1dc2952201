"""Messages as rows of a Parquet table, in the tasks that read them: decoded payloads, and columns to
partition by.

`jsctl.spark.export.layout` makes the same rows with Spark, for other formats.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.partitions import (
    NO_VALUE,
    NO_VALUE_PATTERN,
    check_partition_fields,
    parse_field,
    parse_partitions,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from jsctl.spark.decoding.columns import PayloadColumns
    from jsctl.spark.source.options import ReadOptions

_ESCAPED = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""Characters that names of partitions do not have (Spark: ExternalCatalogUtils.escapePathName)."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The columns of a table, from those of messages. names: of the message's own columns. payload: makes
    columns of payloads, None if they stay as they are. partition_by: names of the columns to partition by
    (see `parse_partitions`). fields: of payloads that are among these, by the name of their column.
    """

    names: tuple[str, ...]
    payload: "PayloadColumns | None"
    partition_by: tuple[str, ...]
    sort_by: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, layout: TableLayout) -> "Arrangement":
        """Return the arrangement of a layout whose schema is known. Raises BadInput, MissingDependency."""
        names = layout.message_columns
        partitions = [name for name, _ in parse_partitions(layout.partition_by)]
        sort_by = (layout.sort_by,) if layout.sort_by else ()
        if not layout.can_be_bad:
            return cls((*names, "data"), None, tuple(partitions), sort_by)
        from jsctl.spark.decoding.columns import PayloadColumns

        payload = PayloadColumns(layout.decoding, (*names, *partitions), layout.keep_data)
        check_partition_fields(payload.schema, layout.partition_by)
        paths = [path for name in layout.partition_by if (path := parse_field(name))]
        fields = dict(zip((name for name in partitions if name.startswith("field_")), paths, strict=True))
        return cls(names, payload, tuple(partitions), sort_by, fields)

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
        values = dict(zip(names, columns, strict=True))
        for name in self.partition_by:
            path = self.fields.get(name)
            columns.append(
                _build_field_column(values, path) if path else _build_partition_column(messages, name)
            )
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
            values = pc.fill_null(table[name].cast(pa.string()), NO_VALUE).combine_chunks()
            differs = pc.not_equal(values.slice(1), values.slice(0, len(values) - 1))
            starts |= {at + 1 for at in pc.indices_nonzero(differs).to_pylist()}
        bounds = [*sorted(starts), len(table)]
        for first, end in itertools.pairwise(bounds):
            rows = table.slice(first, end - first)
            yield "/".join(f"{name}={_escape(rows[name][0].as_py())}" for name in self.partition_by), rows


def _escape(value: Any) -> str:
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text) or NO_VALUE


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
    return _as_folders(pa.array(values, pa.string())).take(subjects.indices)


def _build_field_column(columns: "Mapping[str, pa.Array]", path: Sequence[str]) -> "pa.Array":
    """Return the texts of a field, null for empty ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = columns[path[0]]
    for name in path[1:]:
        column = pc.struct_field(column, column.type.get_field_index(name))
    texts = column.cast(pa.string())
    return _as_folders(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts))


def _as_folders(texts: "pa.Array") -> "pa.Array":
    """Return texts that are the names of different folders; see `layout`."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, NO_VALUE_PATTERN, r"_\0")
