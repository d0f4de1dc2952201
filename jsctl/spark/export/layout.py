"""The columns of a table of messages: decoded payloads, and columns to partition by. All of it is lazy.

| decode | columns for the payload                                                                      |
|--------|----------------------------------------------------------------------------------------------|
| (none) | data, binary; base64 where the format has no binary (CSV, and JSON by itself)                |
| text   | data, string; bad_payload where it is not UTF-8                                              |
| base64 | data, binary: the payload is base64; bad_payload where it is not                             |
| json   | one for each field of the schema; bad_payload where it is not a JSON object, or does not fit |
| variant | value, a variant: any JSON value; bad_payload where it is not JSON                          |
| avro, protobuf | one for each field; bad_payload where it is not a record or message of the schema    |

Payloads may be decompressed before; bad_payload also has those that cannot be. It has the payload as it was
stored; an empty one is null in CSV. A field with the name of another column
gets the prefix `data_`; so does one, at any depth, that differs from an earlier one in case only.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import BadInput
from jsctl.files import CONFIG_SIZE, read_bytes
from jsctl.spark.decoding.compression import AUTO, KINDS
from jsctl.spark.session.spark_errors import first_line

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

    from jsctl.spark.decoding.payloads import Decoding

BAD_PAYLOAD = "bad_payload"
DECODINGS = ("json", "variant", "avro", "protobuf", "text", "base64")
WITH_FIELDS = ("json", "variant", "avro", "protobuf")
"""Those that leave room for a column with the payload."""
_CORRUPT = "_jsctl_corrupt"
_TRIMMED = r"btrim(CAST(data AS STRING), ' \t\r\n')"
_IS_OBJECT = (
    "is_valid_utf8(CAST(data AS STRING))"
    f" AND startswith({_TRIMMED}, '{{') AND endswith({_TRIMMED}, '}}')"
    " AND coalesce(json_array_length(concat('[', CAST(data AS STRING), ']')), 0) = 1"
)
"""One JSON object and nothing else: from_json takes the first of an array, ignores what follows an object,
and replaces bytes that are not UTF-8."""
_PARSED = "_jsctl_parsed"
_STORED = "_jsctl_stored"  #: the payload as the stream has it


class TableLayout(NamedTuple):
    """Which columns a table has.

    decode: one of DECODINGS or empty. schema: DDL for json, JSON for avro, a descriptor file in base64 for
    protobuf. partition_by: `date`, `hour`, `subject:N`. keep_data: a column with the payload beside its
    fields. headers: a column with the headers. message: of protobuf. registry: payloads begin with the id of
    a schema. decompress: one of compression.KINDS or AUTO; empty for payloads that are not compressed.
    """

    decode: str = ""
    schema: str = ""
    partition_by: tuple[str, ...] = ()
    keep_data: bool = False
    headers: bool = False
    message: str = ""
    registry: bool = False
    decompress: str = ""

    @property
    def can_be_bad(self) -> bool:
        """Whether the table has the column bad_payload."""
        return bool(self.decode or self.decompress)

    @property
    def payloads(self) -> "Decoding | None":
        """What Python decodes before Spark's own functions; None without anything."""
        from jsctl.spark.decoding.payloads import KINDS, Decoding

        if self.decode not in KINDS:
            return Decoding(compression=self.decompress) if self.decompress else None
        schema = base64.b64decode(self.schema) if self.decode == "protobuf" else self.schema.encode()
        return Decoding(self.decode, schema, self.message, self.decompress, self.registry)

    def check(self) -> None:
        """Raise BadInput for a schema of avro or protobuf that is not valid, MissingDependency."""
        from jsctl.spark.decoding.payloads import payload_decoder

        if payloads := self.payloads:
            payload_decoder(payloads)


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
            raise BadInput(f"--partition-by {name!r} is not date, hour or subject:N", "such as subject:2")
    return list(columns.items())


def parse_schema(spark: "SparkSession", ddl: str) -> "StructType":
    """Parse the DDL of --schema. Raises BadInput when Spark does not understand it."""
    from pyspark.sql.types import StructType

    try:
        schema = StructType.fromDDL(ddl)
    except Exception as error:
        raise BadInput(
            f"--schema is not a valid schema: {first_line(error).rstrip('.')}",
            "such as --schema 'id BIGINT, name STRING'",
        ) from None
    if not isinstance(schema, StructType):
        raise BadInput(f"--schema {ddl!r} is one type", "name the fields, such as 'id BIGINT, name STRING'")
    return schema


def infer_schema(messages: "DataFrame") -> str:
    """Return the schema (DDL) that fits all JSON objects of `messages`.

    Raises BadInput when there is none.
    """
    schema = _infer(messages, {})
    if not schema.fields:
        raise BadInput(
            "no message holds a JSON object with fields", "leave --decode json out, or give --schema"
        )
    return schema.toDDL()


def extend_schema(messages: "DataFrame", ddl: str) -> tuple[str, list[str]]:
    """Return (the schema with the fields of `messages` that it lacks behind its own, names of these fields).

    A field that it has keeps its type. One that is null in all messages is left for when it has a value.
    """
    from pyspark.sql.types import StructType

    known = parse_schema(messages.sparkSession, ddl)
    added: list[str] = []
    fields = _add_fields(known.fields, _infer(messages, {"dropFieldIfAllNull": "true"}).fields, "", added)
    return (StructType(fields).toDDL() if added else ddl), added


def _infer(messages: "DataFrame", options: Mapping[str, str]) -> "StructType":
    from pyspark.sql.types import StructField, StructType

    texts = messages.where(_IS_OBJECT)
    reader = messages.sparkSession.read.option("columnNameOfCorruptRecord", _CORRUPT).options(**options)
    objects = reader.json(texts.selectExpr("CAST(data AS STRING) AS value"))
    fields = [StructField(f.name, f.dataType) for f in objects.schema.fields if f.name != _CORRUPT]
    return StructType(_merge_repeated(fields))


def _add_fields(
    known: "Sequence[StructField]", new: "Sequence[StructField]", path: str, added: list[str]
) -> "list[StructField]":
    """Return fields with those of `new` that they and their structs lack. Appends their paths to `added`."""
    from pyspark.sql.types import StructField

    newer = {field.name: field.dataType for field in new}
    fields = []
    for field in known:
        data_type = field.dataType
        if field.name in newer:
            data_type = _extend_type(data_type, newer.pop(field.name), f"{path}{field.name}.", added)
        fields.append(StructField(field.name, data_type))
    added += [f"{path}{name}" for name in newer]
    return [*fields, *(StructField(name, data_type) for name, data_type in newer.items())]


def _extend_type(known: "DataType", new: "DataType", path: str, added: list[str]) -> "DataType":
    from pyspark.sql.types import ArrayType, StructType

    if isinstance(known, ArrayType) and isinstance(new, ArrayType):
        return ArrayType(_extend_type(known.elementType, new.elementType, path, added), known.containsNull)
    if isinstance(known, StructType) and isinstance(new, StructType):
        return StructType(_add_fields(known.fields, new.fields, path, added))
    return known


def _merge_repeated(fields: "Sequence[StructField]") -> "list[StructField]":
    """Return fields of which each has a name of its own: Spark infers two where an object has a key twice."""
    from pyspark.sql.types import StringType, StructField

    merged: dict[str, StructField] = {}
    for field in fields:
        earlier = merged.get(field.name)
        data_type = StringType() if earlier and earlier.dataType != field.dataType else field.dataType
        merged[field.name] = StructField(field.name, _replace_structs(data_type, _merge_repeated))
    return list(merged.values())


def _rename_equal(fields: "Sequence[StructField]", reserved: Sequence[str] = ()) -> "list[StructField]":
    """Return fields whose names differ in more than case, by the prefix `data_`, and are none of `reserved`.

    JSON tells `id` and `ID` apart; tables do not.
    """
    from pyspark.sql.types import StructField

    used = {name.lower() for name in reserved}
    renamed = []
    for field in fields:
        name = field.name
        while name.lower() in used:
            name = f"data_{name}"
        used.add(name.lower())
        renamed.append(StructField(name, _replace_structs(field.dataType, _rename_equal)))
    return renamed


def _replace_structs(
    data_type: "DataType", change: "Callable[[Sequence[StructField]], list[StructField]]"
) -> "DataType":
    """Return a type with the fields of its structs changed, also those in arrays and maps."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, StructType):
        return StructType(change(data_type.fields))
    if isinstance(data_type, ArrayType):
        return ArrayType(_replace_structs(data_type.elementType, change), data_type.containsNull)
    if isinstance(data_type, MapType):
        value_type = _replace_structs(data_type.valueType, change)
        return MapType(data_type.keyType, value_type, data_type.valueContainsNull)
    return data_type


def apply_layout(messages: "DataFrame", layout: TableLayout) -> "DataFrame":
    """Return messages as rows of the table. Raises BadInput, MissingDependency."""
    meta = ["stream", "subject", "sequence", "timestamp", *(["headers"] if layout.headers else [])]
    partitions = parse_partitions(layout.partition_by)
    frame = decode_data(messages, layout, meta, [name for name, _ in partitions])
    return frame.selectExpr("*", *(f"{sql} AS `{name}`" for name, sql in partitions))


def decode_data(
    messages: "DataFrame", layout: TableLayout, meta: Sequence[str], more: Sequence[str] = ()
) -> "DataFrame":
    """Return the columns `meta`, and those that the table above says for `data`.

    more: further names that a field cannot have. Raises BadInput, MissingDependency.
    """
    from pyspark.sql import functions as F

    if layout.can_be_bad:
        messages = messages.withColumn(_STORED, F.col("data"))
    if payloads := layout.payloads:
        from jsctl.spark.decoding.frames import DECODED, decode_payloads

        messages = decode_payloads(messages, payloads)
        if not payloads.kind:
            messages = messages.withColumn("data", F.col(DECODED)["value"])
    if layout.decode in ("json", "avro", "protobuf"):
        decode = _decode_json if layout.decode == "json" else _decode_records
        return decode(messages, layout, [*meta, BAD_PAYLOAD, "data", *more])
    return messages.select(*meta, *map(F.expr, _payload_columns(layout)))


def decode_messages(
    messages: "DataFrame",
    kind: str,
    schema: str | bytes | Path,
    message: str,
    registry: bool,
    decompress: str,
    keep_data: bool,
) -> "DataFrame":
    """Do what `jsctl.spark.decode` says."""
    if kind and kind not in DECODINGS:
        raise BadInput(f"{kind!r} is not one of {', '.join(DECODINGS)}")
    if decompress not in ("", AUTO, *KINDS):
        raise BadInput(f"{decompress!r} is not one of {', '.join((*KINDS, AUTO))}")
    if kind in ("json", "avro", "protobuf") and not schema:
        raise BadInput(f"{kind} needs a schema", "give schema=")
    content = read_bytes(schema, "the schema", CONFIG_SIZE) if isinstance(schema, Path) else schema
    if isinstance(content, bytes):
        content = base64.b64encode(content).decode() if kind == "protobuf" else content.decode()
    layout = TableLayout(
        kind, content, keep_data=keep_data, message=message, registry=registry, decompress=decompress
    )
    layout.check()
    return decode_data(messages, layout, [name for name in messages.columns if name != "data"])


def _payload_columns(layout: TableLayout) -> list[str]:
    """Return the SQL of the columns for a payload that has no fields of its own."""
    raw = "CAST(data AS STRING)"
    if layout.decode == "text":
        return [
            f"IF(is_valid_utf8({raw}), {raw}, NULL) AS data",
            f"IF(is_valid_utf8({raw}), NULL, {_STORED}) AS {BAD_PAYLOAD}",
        ]
    if layout.decode == "variant":
        value = f"try_parse_json(IF(is_valid_utf8({raw}), {raw}, NULL))"
        stored = [f"{_STORED} AS data"] if layout.keep_data else []
        return [f"{value} AS value", *stored, f"IF({value} IS NULL, {_STORED}, NULL) AS {BAD_PAYLOAD}"]
    if layout.decode == "base64":
        decoded = f"try_to_binary({raw}, 'base64')"
        return [f"{decoded} AS data", f"IF({decoded} IS NULL, {_STORED}, NULL) AS {BAD_PAYLOAD}"]
    if layout.decompress:
        return ["data", f"IF(data IS NULL, {_STORED}, NULL) AS {BAD_PAYLOAD}"]
    return ["data"]


def _decode_json(messages: "DataFrame", layout: TableLayout, reserved: Sequence[str]) -> "DataFrame":
    """reserved: names that a field cannot have."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    schema = parse_schema(messages.sparkSession, layout.schema)
    text = F.col("data").cast("string")
    with_corrupt = StructType([*schema.fields, StructField(_CORRUPT, StringType())])
    fields = _rename_equal(schema.fields, reserved)
    with_names = StructType([*fields, StructField(_CORRUPT, StringType())])
    parsed = F.from_json(text, with_corrupt, {"columnNameOfCorruptRecord": _CORRUPT})
    frame = messages.withColumn(_PARSED, parsed.cast(with_names))  # fields by position
    is_valid = F.expr(f"{_IS_OBJECT} AND {_PARSED} IS NOT NULL AND {_PARSED}.{_CORRUPT} IS NULL")
    return _select_fields(frame, fields, F.coalesce(is_valid, F.lit(False)), layout, reserved)


def _decode_records(messages: "DataFrame", layout: TableLayout, reserved: Sequence[str]) -> "DataFrame":
    """Expand what was decoded already."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    from jsctl.spark.decoding.frames import DECODED

    decoded = messages.select(F.col(DECODED)["value"].alias("value")).schema["value"].dataType
    fields = _rename_equal(decoded.fields if isinstance(decoded, StructType) else (), reserved)
    frame = messages.withColumn(_PARSED, F.col(DECODED)["value"].cast(StructType(fields)))
    return _select_fields(frame, fields, ~F.col(DECODED)["is_bad"], layout, reserved)


def _select_fields(
    frame: "DataFrame",
    fields: "Sequence[StructField]",
    is_valid: "Column",
    layout: TableLayout,
    reserved: Sequence[str],
) -> "DataFrame":
    """Return the table's columns, with the fields of _PARSED where it is valid."""
    from pyspark.sql import functions as F

    columns = [F.col(name) for name in reserved if name in frame.columns and name != "data"]
    columns += [F.when(is_valid, F.col(_PARSED)[field.name]).alias(field.name) for field in fields]
    if layout.keep_data:
        columns.append(F.col(_STORED).alias("data"))
    return frame.select(*columns, F.when(~is_valid, F.col(_STORED)).alias(BAD_PAYLOAD))


def flatten_for_format(frame: "DataFrame", format: str) -> "DataFrame":
    """Return rows that a format can hold.

    For CSV: binary as base64, nested columns as JSON, and empty text as null, which CSV does not tell apart.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType, VariantType

    if format != "csv":
        return frame
    columns = []
    for field in frame.schema.fields:
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if isinstance(field.dataType, BinaryType):
            column = F.nullif(F.base64(column), F.lit("")).alias(field.name)
        elif isinstance(field.dataType, StringType):
            column = F.nullif(column, F.lit("")).alias(field.name)
        elif isinstance(field.dataType, (ArrayType, MapType, StructType, VariantType)):
            column = F.to_json(column).alias(field.name)
        columns.append(column)
    return frame.select(*columns)
