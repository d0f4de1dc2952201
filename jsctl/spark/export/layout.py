"""The columns of a table of messages: decoded payloads, and columns to partition by. All frames are lazy.

`jsctl.spark.decoding.columns` describes the columns of payloads. Formats of text have no binary type: there
it is unbroken base64, and the names of columns and fields, such as `data_base64`, say so. An empty payload is
null in CSV.
"""

import base64
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import MAX_DEPTH
from jsctl.base.units import pluralize
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.schema.remote.registry import NO_LOGIN, read_login
from jsctl.spark.decoding.model import BAD_PAYLOAD, WITH_SCHEMA, Decoding, check_kinds, parse_registry
from jsctl.spark.export.formats import FILE_FORMATS, build_spark_options
from jsctl.spark.export.partitions import check_partition_fields, parse_field, parse_partitions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField

_STORED = "_jsctl_stored"  #: the payload as the stream has it
_REST = "_jsctl_rest"  #: the same, if Spark's own parser does not decode it


class TableLayout(NamedTuple):
    """The columns of a table.

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

    def check(self) -> None:
        """Raise BadInput for a schema that is not valid, MissingDependency."""
        from jsctl.spark.decoding.payloads import build_payload_decoder

        if self.can_be_bad and (self.schema or self.decode not in WITH_SCHEMA):
            build_payload_decoder(self.decoding)
        if self.schema and any(map(parse_field, self.partition_by)):
            from jsctl.spark.decoding.columns import PayloadColumns

            names = (*self.message_columns, *(name for name, _ in parse_partitions(self.partition_by)))
            columns = PayloadColumns(self.decoding, names, self.keep_data).schema
            check_partition_fields(columns, self.partition_by)


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
    partitions = parse_partitions(layout.partition_by)
    frame = decode_data(messages, layout, meta, [name for name, _ in partitions])
    check_partition_fields(StructType(frame.schema.fields[len(meta) :]), layout.partition_by)
    return frame.selectExpr("*", *(f"{sql} AS `{name}`" for name, sql in partitions))


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


def flatten_for_format(frame: "DataFrame", format: str) -> "DataFrame":
    """Return rows that a format can store.

    In formats of text, fields of binary are called `<name>_base64`, at any depth; Spark writes these as
    base64 in JSON and XML. For CSV: binary as base64, nested columns as JSON, and empty text as null, as CSV
    does not distinguish them. Raises BadInput when a column has such a name already.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType, VariantType

    if format not in FILE_FORMATS or not FILE_FORMATS[format].is_text:
        return frame
    columns = []
    fields = name_binary(frame.schema.fields)
    for field, named in zip(frame.schema.fields, fields, strict=True):
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if named.dataType != field.dataType:
            column = column.cast(named.dataType)
        if format == "csv":
            if isinstance(field.dataType, BinaryType):
                column = F.nullif(to_base64(column), F.lit(""))
            elif isinstance(field.dataType, StringType):
                column = F.nullif(column, F.lit(""))
            elif isinstance(field.dataType, (ArrayType, MapType, StructType, VariantType)):
                column = F.to_json(column, build_spark_options("json"))  # by default, it cuts times to ms
        columns.append(column.alias(named.name))
    return frame.select(*columns)


def to_base64(column: "Column") -> "Column":
    """Return a column of binary as unbroken base64; by default, Spark begins a line every 76 characters."""
    from pyspark.sql import functions as F

    return F.replace(F.base64(column), F.lit("\r\n"), F.lit(""))


def name_binary(fields: "Sequence[StructField]") -> "list[StructField]":
    """Return fields of which those of binary, and of arrays and maps of binary, are called `<name>_base64`.

    Raises BadInput when two then have the same name.
    """
    from pyspark.sql.types import StructField

    from jsctl.spark.decoding.columns import replace_structs

    named = [
        StructField(
            f"{field.name}_base64" if _holds_binary(field.dataType) else field.name,
            replace_structs(field.dataType, name_binary),
            field.nullable,
        )
        for field in fields
    ]
    names = [field.name.lower() for field in named]
    if repeated := next((name for name in names if names.count(name) > 1), ""):
        raise BadInput(f"the field {repeated} exists twice, once for binary", "use --format parquet")
    return named


def _holds_binary(data_type: "DataType") -> bool:
    from pyspark.sql.types import ArrayType, BinaryType, MapType

    if isinstance(data_type, ArrayType):
        return _holds_binary(data_type.elementType)
    if isinstance(data_type, MapType):
        return _holds_binary(data_type.valueType)
    return isinstance(data_type, BinaryType)
