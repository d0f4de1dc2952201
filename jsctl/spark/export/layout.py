"""The layout of a table of messages: its options, and what each does to rows and files, both with Spark,
whose frames are lazy, and in tasks that write Parquet themselves (`Arrangement`).

`jsctl.spark.decoding.columns` describes the columns of payloads.
"""

import base64
import itertools
import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import MAX_DEPTH
from jsctl.base.units import pluralize
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.schema.remote.registry import NO_LOGIN, read_login
from jsctl.spark.decoding.model import BAD_PAYLOAD, WITH_SCHEMA, Decoding, check_kinds, parse_registry
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.export.partitions import (
    NO_VALUE,
    Partition,
    check_partition_fields,
    parse_field,
    parse_partitions,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jsctl.spark.decoding.columns import PayloadColumns
    from jsctl.spark.export.stream_plan import ReadPlan
    from jsctl.spark.source.options import ReadOptions

TASK_MESSAGES, TASK_BYTES = 100_000, 64 << 20
"""What one task reads at most: progress is counted in finished tasks, and files stay of a handy size."""

_STORED = "_jsctl_stored"  #: the payload as the stream has it
_REST = "_jsctl_rest"  #: the same, if Spark's own parser does not decode it

_ESCAPED = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""Characters that names of partitions do not have (Spark: ExternalCatalogUtils.escapePathName)."""

_KEPT = ("decode", "keep_data", "headers", "message", "decompress")
"""Options with which a table has to be continued, as its checkpoint names them."""


class TableLayout(NamedTuple):
    """The options of a table.

    decode: one of KINDS or empty. schema: DDL for json, JSON for avro, a descriptor file in base64 for
    protobuf. partition_by: `date`, `hour`, `subject:N`, `field:NAME`. keep_data: a column with the payload
    beside its fields. headers: a column with the headers. message: of protobuf. registry, login: as in
    Decoding. decompress: one of compression.KINDS or AUTO; empty for payloads that are not compressed.
    sort_by: `subject` for rows in its order within a file, empty for that of the stream. file_size: bytes of
    messages in a file at most, 0 for what is usual.
    """

    decode: str = ""
    schema: str = ""
    partition_by: tuple[str, ...] = ()
    keep_data: bool = False
    headers: bool = False
    message: str = ""
    registry: str = ""
    decompress: str = ""
    login: Settings = NO_LOGIN
    sort_by: str = ""
    file_size: int = 0

    @property
    def can_be_bad(self) -> bool:
        """Whether the table has the column bad_payload."""
        return bool(self.decode or self.decompress)

    @property
    def message_columns(self) -> tuple[str, ...]:
        """The columns beside those of payloads and partitions."""
        return ("stream", "subject", "sequence", "timestamp", *(("headers",) if self.headers else ()))

    @property
    def decoding(self) -> Decoding:
        """How payloads are decoded."""
        schema = base64.b64decode(self.schema) if self.decode == "protobuf" else self.schema.encode()
        return Decoding(self.decode, schema, self.message, self.decompress, self.registry, self.login)

    @property
    def partitions(self) -> list[Partition]:
        """The columns to partition by. Raises BadInput."""
        return parse_partitions(self.partition_by)

    @property
    def order(self) -> tuple[str, ...]:
        """The columns by which rows are in order within a file, empty for that of the stream."""
        return (self.sort_by, "sequence") if self.sort_by else ()

    @property
    def full_order(self) -> tuple[str, ...]:
        """The same, with the columns to partition by."""
        return *(partition.name for partition in self.partitions), *(self.order or ("sequence",))

    def build_read_options(self, plan: "ReadPlan | None") -> dict[str, str]:
        """Return options of the data source to read messages for the table. plan: None to read them for
        another purpose than writing."""
        options = {"includeHeaders": "true"} if self.headers else {}
        if plan is None:
            return options
        tasks = max(plan.messages / TASK_MESSAGES, plan.bytes / TASK_BYTES)
        if self.file_size:
            tasks = plan.bytes / self.file_size
        return options | {"minPartitions": str(max(1, min(10_000, math.ceil(tasks))))}

    def build_write_options(self, format: str) -> Mapping[str, str]:
        """Return Spark's options to write the files of a format."""
        return build_spark_options(format)

    @property
    def parquet_options(self) -> Mapping[str, Any]:
        """The options of pyarrow to write Parquet like Spark's."""
        return {
            "version": "2.6",
            "data_page_version": "1.0",
            "compression": "snappy",
            "store_decimal_as_integer": True,
            "store_schema": False,
            "write_page_index": True,
        }

    def build_settings(self) -> dict[str, Any]:
        """Return the options with which a table has to be continued, as its checkpoint has them."""
        kept = {name: getattr(self, name) for name in _KEPT}
        partition_by = [*dict.fromkeys(self.partition_by)]
        return {**kept, "registry": bool(self.registry), "partition_by": partition_by}

    def check(self) -> None:
        """Raise BadInput for options that are not valid, MissingDependency."""
        partitions = self.partitions
        if any(map(parse_field, self.partition_by)) and self.decode not in WITH_SCHEMA:
            raise BadInput("--partition-by field:NAME is for payloads with fields", "add --decode json")
        if self.file_size < 0:
            raise BadInput("--file-size must be 1 or more")
        if self.can_be_bad and (self.schema or self.decode not in WITH_SCHEMA):
            from jsctl.spark.decoding.payloads import build_payload_decoder

            build_payload_decoder(self.decoding)
        if self.schema and any(map(parse_field, self.partition_by)):
            from jsctl.spark.decoding.columns import PayloadColumns

            names = (*self.message_columns, *(partition.name for partition in partitions))
            columns = PayloadColumns(self.decoding, names, self.keep_data).schema
            check_partition_fields(columns, self.partition_by)


PLAIN = TableLayout()
"""Messages as they are."""


def check_bad(table: str, limit: int, count: int) -> None:
    """Raise JsctlError when as many payloads cannot be decoded as --fail-on-bad says; 0 for no limit."""
    if limit and count >= limit:
        raise JsctlError(
            f"{pluralize(count, 'payload')} of {table} cannot be decoded, and nothing was written",
            "without --fail-on-bad, they are in the column bad_payload",
        )


def apply_layout(messages: "DataFrame", layout: TableLayout) -> "DataFrame":
    """Return messages as rows of the table. Raises BadInput, MissingDependency."""
    from pyspark.sql.types import StructType

    meta = layout.message_columns
    partitions = layout.partitions
    frame = decode_data(messages, layout, meta, [partition.name for partition in partitions])
    check_partition_fields(StructType(frame.schema.fields[len(meta) :]), layout.partition_by)
    return frame.selectExpr("*", *(f"{partition.sql} AS `{partition.name}`" for partition in partitions))


def decode_data(
    messages: "DataFrame", layout: TableLayout, meta: Sequence[str], other_names: Sequence[str] = ()
) -> "DataFrame":
    """Return the columns `meta`, and those for the payload in `data` (see `jsctl.spark.decoding.columns`).

    other_names: further names that a field cannot have. Raises BadInput, MissingDependency.
    """
    from pyspark.sql import functions as F

    if not layout.can_be_bad:
        return messages.select(*meta, "data")
    if layout.decode == "variant":
        return _decode_variants(messages, layout, meta)
    from jsctl.spark.decoding.columns import DECODED, PayloadColumns, decode_column

    payloads = PayloadColumns(layout.decoding, (*meta, *other_names), layout.keep_data)
    frame = messages.withColumn(DECODED, decode_column(payloads, "data"))
    columns = (F.col(DECODED)[name].alias(name) for name in payloads.schema.names)
    return frame.select(*meta, *columns)


def _decode_variants(messages: "DataFrame", layout: TableLayout, meta: Sequence[str]) -> "DataFrame":
    """Decode variants as `PayloadColumns` does. Spark's own parser, which is twenty times as fast, reads the
    payloads that it reads in the same way."""
    from pyspark.sql import functions as F

    from jsctl.spark.decoding.columns import DECODED, PayloadColumns, decode_column

    frame = messages.withColumn(_STORED, F.col("data"))
    if layout.decompress:
        unpacked = layout._replace(decode="", keep_data=False)
        frame = decode_data(frame, unpacked, [*meta, _STORED])
    frame = _parse_variants(frame)
    rest = F.when(F.col("value").isNull(), F.col(_STORED))
    payloads = PayloadColumns(layout.decoding, (*meta, _STORED), keep_data=False)
    frame = frame.withColumn(_REST, rest).withColumn(DECODED, decode_column(payloads, _REST))
    value = F.coalesce("value", F.col(DECODED)["value"])
    stored = F.col(_STORED)
    payload = [stored.alias("data")] if layout.keep_data else []
    bad = F.when(value.isNull(), stored).alias(BAD_PAYLOAD)
    return frame.select(*meta, value.alias("value"), *payload, bad)


def _parse_variants(messages: "DataFrame") -> "DataFrame":
    """Add the variants of the payloads in `data` as `value`; null where Spark's parser refuses a payload, or
    reads it in another way: it rounds long numbers, refuses repeated keys, and ignores what follows a value.
    For this, another one follows here, which no payload contains."""
    from pyspark.sql import functions as F

    from jsctl.spark.decoding.variants import LONG_NUMBER

    end = uuid.uuid4().hex
    text = F.col("data").cast("string")
    opened = F.length(text) - F.length(F.translate(text, "[{", ""))
    is_flat = (F.length("data") < 2 * MAX_DEPTH) | (opened < MAX_DEPTH)
    is_safe = F.is_valid_utf8(text) & ~text.rlike(LONG_NUMBER) & is_flat
    list_of_two = F.try_parse_json(F.concat(F.lit("["), text, F.lit(f',"{end}"]')))
    frame = messages.withColumn("value", F.when(is_safe, list_of_two))
    is_whole = F.try_variant_get("value", "$[1]", "string") == end
    return frame.withColumn("value", F.when(is_whole, F.try_variant_get("value", "$[0]", "variant")))


def decode_messages(
    messages: "DataFrame",
    kind: str,
    schema: str | bytes | Path,
    message: str,
    registry: str,
    decompress: str,
    keep_data: bool,
) -> "DataFrame":
    """Implement `jsctl.spark.decode`."""
    check_kinds(kind, decompress)
    if kind in WITH_SCHEMA and not schema:
        raise BadInput(f"{kind} needs a schema", "set schema=")
    content = read_bytes(schema, "the schema", CONFIG_SIZE) if isinstance(schema, Path) else schema
    if isinstance(content, bytes):
        content = base64.b64encode(content).decode() if kind == "protobuf" else content.decode()
    layout = TableLayout(
        kind,
        content,
        keep_data=keep_data,
        message=message,
        registry=parse_registry(registry),
        decompress=decompress,
        login=read_login(),
    )
    layout.check()
    return decode_data(messages, layout, [name for name in messages.columns if name != "data"])


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A table in the tasks that read its messages and write Parquet. names: of the columns of messages in it.
    payload: makes columns of payloads, None if they stay as they are."""

    layout: TableLayout
    names: tuple[str, ...]
    payload: "PayloadColumns | None"

    @classmethod
    def of(cls, layout: TableLayout) -> "Arrangement":
        """Return the arrangement of a layout whose schema is known. Raises BadInput, MissingDependency."""
        names = layout.message_columns
        if not layout.can_be_bad:
            return cls(layout, (*names, "data"), None)
        from jsctl.spark.decoding.columns import PayloadColumns

        others = (partition.name for partition in layout.partitions)
        payload = PayloadColumns(layout.decoding, (*names, *others), layout.keep_data)
        check_partition_fields(payload.schema, layout.partition_by)
        return cls(layout, names, payload)

    def build_schema(self, options: "ReadOptions") -> "StructType":
        """Return the columns of the table as Spark sees them. options: how the messages are read."""
        from pyspark.sql.types import StructType

        from jsctl.spark.source.batch_reader import build_spark_schema

        fields = build_spark_schema(options)
        columns = [fields[name] for name in self.names]
        columns += self.payload.schema.fields if self.payload else []
        schema = StructType(columns)
        for partition in self.layout.partitions:
            schema = schema.add(partition.name, partition.type)
        return schema

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
        values |= {partition.name: partition.build(values) for partition in self.layout.partitions}
        return pa.RecordBatch.from_arrays([*values.values()], names=[*values])

    def split(self, rows: "pa.RecordBatch") -> "Iterator[tuple[str, pa.RecordBatch]]":
        """Yield the path of each partition and its rows, in the order in which they came. Rows of one
        partition are not copied."""
        import pyarrow.compute as pc

        names = [partition.name for partition in self.layout.partitions]
        starts = _find_starts(rows, names)
        if len(starts) > 1:
            order = [(name, "ascending") for name in names]
            rows = rows.take(pc.sort_indices(rows, sort_keys=order))  # it is stable
            starts = _find_starts(rows, names)
        for first, end in itertools.pairwise([*starts, len(rows)]):
            part = rows.slice(first, end - first)
            yield "/".join(f"{name}={_escape(part[name][0].as_py())}" for name in names), part

    def sort(self, rows: "pa.Table") -> "pa.Table":
        """Return the rows of a file, which are in the order of the stream, in that of the layout."""
        import pyarrow.compute as pc

        order = [(name, "ascending") for name in self.layout.order]
        return rows.take(pc.sort_indices(rows, sort_keys=order)) if order else rows


def _find_starts(rows: "pa.RecordBatch", names: Sequence[str]) -> list[int]:
    """Return 0, and where columns have another value than in the row before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    starts = {0}
    for name in names:
        values = pc.fill_null(rows[name].cast(pa.string()), NO_VALUE)
        differs = pc.not_equal(values.slice(1), values.slice(0, len(values) - 1))
        starts |= {at + 1 for at in pc.indices_nonzero(differs).to_pylist()}
    return sorted(starts)


def _escape(value: Any) -> str:
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text) or NO_VALUE
