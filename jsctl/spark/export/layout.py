"""The columns of a table of messages: decoded payloads, and columns to partition by. All frames are lazy.

`jsctl.spark.decoding.columns` describes the columns of payloads. Formats of text have no binary type: there
it is unbroken base64, and the names of columns and fields, such as `data_base64`, say so. An empty payload is
null in CSV.
"""

import base64
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.json_text import MAX_DEPTH
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.schema.remote.registry import NO_LOGIN, read_login
from jsctl.spark.decoding.model import BAD_PAYLOAD, WITH_SCHEMA, Decoding, check_kinds, parse_registry
from jsctl.spark.export.formats import build_spark_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

TEXT_FORMATS = ("csv", "json", "xml")

_CORRUPT = "_jsctl_corrupt"
_STORED = "_jsctl_stored"  #: the payload as the stream has it
_REST = "_jsctl_rest"  #: the same, if Spark's own parser does not decode it
_TRIMMED = r"btrim(CAST(data AS STRING), ' \t\r\n')"
_IS_OBJECT = (
    "is_valid_utf8(CAST(data AS STRING))"
    f" AND startswith({_TRIMMED}, '{{') AND endswith({_TRIMMED}, '}}')"
    " AND coalesce(json_array_length(concat('[', CAST(data AS STRING), ']')), 0) = 1"
)
"""SQL: whether a payload is exactly one JSON object. from_json would take the first item of an array, ignore
text after an object, and replace bytes that are not UTF-8."""


class TableLayout(NamedTuple):
    """The columns of a table.

    decode: one of KINDS or empty. schema: DDL for json, JSON for avro, a descriptor file in base64 for
    protobuf. partition_by: `date`, `hour`, `subject:N`. keep_data: a column with the payload beside its
    fields. headers: a column with the headers. message: of protobuf. registry, login: as in Decoding.
    decompress: one of compression.KINDS or AUTO; empty for payloads that are not compressed. sort_by:
    `subject` for rows in its order within a file, empty for that of the stream. file_size: bytes of
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
    def decoding(self) -> Decoding:
        """How payloads are decoded."""
        schema = base64.b64decode(self.schema) if self.decode == "protobuf" else self.schema.encode()
        return Decoding(self.decode, schema, self.message, self.decompress, self.registry, self.login)

    def check(self) -> None:
        """Raise BadInput for a schema that is not valid, MissingDependency."""
        from jsctl.spark.decoding.payloads import build_payload_decoder

        if self.can_be_bad and (self.schema or self.decode not in WITH_SCHEMA):
            build_payload_decoder(self.decoding)


def parse_partitions(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the values of --partition-by as (column, SQL).

    They are date, hour (which brings its date) and subject:N, the Nth token of the subject, from 1. Raises
    BadInput.
    """
    columns: dict[str, str] = {}
    for name in names:
        token = re.fullmatch(r"subject:([1-9]\d{0,2})", name)
        if name in ("date", "hour"):
            columns["date"] = "to_date(timestamp)"
            if name == "hour":
                columns["hour"] = "hour(timestamp)"
        elif token:
            columns[f"subject_{token[1]}"] = f"get(split(subject, '[.]'), {int(token[1]) - 1})"
        else:
            raise BadInput(f"--partition-by {name!r} is not date, hour or subject:N", "for example subject:2")
    return list(columns.items())


def infer_schema(messages: "DataFrame") -> tuple[str, list[str]]:
    """Return the schema (DDL) of all JSON objects in `messages`, and the fields that round some numbers.

    Raises BadInput when there are no objects.
    """
    from jsctl.spark.export.number_fields import convert_rounding_types

    schema = _infer(messages, {})
    if not schema.fields:
        raise BadInput(
            "no message holds a JSON object with fields", "leave --decode json out, or set --schema"
        )
    schema, rounding = convert_rounding_types(_select_objects(messages), schema)
    return schema.toDDL(), rounding


def say_rounding(table: str, fields: Sequence[str]) -> str:
    """Return the sentence about fields that round some numbers."""
    return (
        f"jsctl: {table} rounds numbers of {', '.join(fields)}: a table with --schema and DECIMAL or STRING"
        " keeps their digits"
    )


def extend_schema(messages: "DataFrame", ddl: str) -> tuple[str, list[str], list[str]]:
    """Return a schema extended by fields of `messages` that it lacks, the names of these fields, and the
    fields that round some numbers.

    Its own fields come first and keep their types; messages in which one has another type are ignored, as
    they will be bad payloads. A new field that is null in all messages is added later, when it has a value.
    """
    from pyspark.sql.types import StructType

    from jsctl.spark.decoding.ddl import parse_ddl
    from jsctl.spark.export.number_fields import convert_rounding_types, list_paths

    present = parse_ddl(ddl)
    options = {"dropFieldIfAllNull": "true"}  # a field that is always null has no type yet
    inferred = _infer(messages, options)
    if _is_hidden(present, inferred):
        inferred = _infer(_without_bad(messages, ddl), options)
    added: list[str] = []
    fields = StructType(_add_fields(present.fields, inferred.fields, "", added))
    schema, rounding = convert_rounding_types(_select_objects(messages), fields, list_paths(present))
    return (schema.toDDL() if added else ddl), added, rounding


def _is_hidden(present: "DataType", inferred: "DataType") -> bool:
    """Return whether `inferred` hides fields of an object in `present`, because some messages have another
    type there.
    """
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(present, ArrayType):
        return not isinstance(inferred, ArrayType) or _is_hidden(present.elementType, inferred.elementType)
    if not isinstance(present, StructType):
        return False
    if not isinstance(inferred, StructType):
        return True
    inferred_types = {field.name: field.dataType for field in inferred.fields}
    return any(
        field.name in inferred_types and _is_hidden(field.dataType, inferred_types[field.name])
        for field in present.fields
    )


def _without_bad(messages: "DataFrame", ddl: str) -> "DataFrame":
    """Return the messages that fit a schema."""
    decoded = decode_data(messages, TableLayout("json", ddl, keep_data=True), ["sequence"])
    return decoded.where(f"{BAD_PAYLOAD} IS NULL").select("data")


def _select_objects(messages: "DataFrame") -> "DataFrame":
    """Return the payloads that are JSON objects, as a column of texts."""
    return messages.where(_IS_OBJECT).selectExpr("CAST(data AS STRING) AS value")


def _infer(messages: "DataFrame", options: Mapping[str, str]) -> "StructType":
    from pyspark.sql.types import StructField, StructType

    reader = messages.sparkSession.read.option("columnNameOfCorruptRecord", _CORRUPT).options(**options)
    objects = reader.json(_select_objects(messages))
    fields = [StructField(f.name, f.dataType) for f in objects.schema.fields if f.name != _CORRUPT]
    return StructType(_merge_repeated(fields))


def _add_fields(
    present: "Sequence[StructField]", inferred: "Sequence[StructField]", path: str, added: list[str]
) -> "list[StructField]":
    """Return fields with those of `inferred` that they and their structs lack. Appends their paths to
    `added`."""
    from pyspark.sql.types import StructField

    inferred_types = {field.name: field.dataType for field in inferred}
    fields = []
    for field in present:
        data_type = field.dataType
        if field.name in inferred_types:
            data_type = _extend_type(data_type, inferred_types.pop(field.name), f"{path}{field.name}.", added)
        fields.append(StructField(field.name, data_type))
    added += [f"{path}{name}" for name in inferred_types]
    return [*fields, *(StructField(name, data_type) for name, data_type in inferred_types.items())]


def _extend_type(present: "DataType", inferred: "DataType", path: str, added: list[str]) -> "DataType":
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(present, ArrayType) and isinstance(inferred, ArrayType):
        return ArrayType(
            _extend_type(present.elementType, inferred.elementType, path, added), present.containsNull
        )
    if isinstance(present, StructType) and isinstance(inferred, StructType):
        return StructType(_add_fields(present.fields, inferred.fields, path, added))
    return present


def _merge_repeated(fields: "Sequence[StructField]") -> "list[StructField]":
    """Return fields with unique names: Spark infers two fields when an object has a key twice."""
    from pyspark.sql.types import StringType, StructField

    from jsctl.spark.decoding.columns import replace_structs

    merged: dict[str, StructField] = {}
    for field in fields:
        earlier = merged.get(field.name)
        data_type = StringType() if earlier and earlier.dataType != field.dataType else field.dataType
        merged[field.name] = StructField(field.name, replace_structs(data_type, _merge_repeated))
    return list(merged.values())


def apply_layout(messages: "DataFrame", layout: TableLayout) -> "DataFrame":
    """Return messages as rows of the table. Raises BadInput, MissingDependency."""
    meta = ["stream", "subject", "sequence", "timestamp", *(["headers"] if layout.headers else [])]
    partitions = parse_partitions(layout.partition_by)
    frame = decode_data(messages, layout, meta, [name for name, _ in partitions])
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

    if format not in TEXT_FORMATS:
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
