"""The columns of a table of messages: decoded payloads, and columns to partition by. All of it is lazy.

| decode | columns for the payload                                                                      |
|--------|----------------------------------------------------------------------------------------------|
| (none) | data, binary; base64 where the format has no binary (CSV, and JSON by itself)                |
| text   | data, string; bad_payload where it is not UTF-8                                              |
| base64 | data, binary: the payload is base64; bad_payload where it is not                             |
| json   | one for each field of the schema; bad_payload where it is not a JSON object, or does not fit |

bad_payload has the original payload; an empty one is null in CSV. A field with the name of another column
gets the prefix `data_`; so does one, at any depth, that differs from an earlier one in case only.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import BadInput
from jsctl.spark.session.spark_errors import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

BAD_PAYLOAD = "bad_payload"
DECODINGS = ("json", "text", "base64")
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


class TableLayout(NamedTuple):
    """Which columns a table has.

    decode: one of DECODINGS or empty. schema: DDL, for json. partition_by: `date`, `hour`, `subject:N`.
    keep_data: a column with the payload beside json's fields. headers: a column with the headers.
    """

    decode: str = ""
    schema: str = ""
    partition_by: tuple[str, ...] = ()
    keep_data: bool = False
    headers: bool = False


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
    """Return messages as rows of the table. Raises BadInput."""
    meta = ["stream", "subject", "sequence", "timestamp", *(["headers"] if layout.headers else [])]
    partitions = parse_partitions(layout.partition_by)
    raw = "CAST(data AS STRING)"
    if layout.decode == "json":
        frame = _decode_json(
            messages, layout, [*meta, BAD_PAYLOAD, "data", *(name for name, _ in partitions)]
        )
    elif layout.decode == "text":
        frame = messages.selectExpr(
            *meta,
            f"IF(is_valid_utf8({raw}), {raw}, NULL) AS data",
            f"IF(is_valid_utf8({raw}), NULL, data) AS {BAD_PAYLOAD}",
        )
    elif layout.decode == "base64":
        decoded = f"try_to_binary({raw}, 'base64')"
        frame = messages.selectExpr(
            *meta, f"{decoded} AS data", f"IF({decoded} IS NULL, data, NULL) AS {BAD_PAYLOAD}"
        )
    else:
        frame = messages.selectExpr(*meta, "data")
    return frame.selectExpr("*", *(f"{sql} AS `{name}`" for name, sql in partitions))


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
    columns = [F.col(name) for name in reserved if name in frame.columns and name != "data"]
    columns += [F.when(is_valid, F.col(_PARSED)[field.name]).alias(field.name) for field in fields]
    if layout.keep_data:
        columns.append(F.col("data"))
    is_bad = ~F.coalesce(is_valid, F.lit(False))
    return frame.select(*columns, F.when(is_bad, F.col("data")).alias(BAD_PAYLOAD))


def flatten_for_format(frame: "DataFrame", format: str) -> "DataFrame":
    """Return rows that a format can hold.

    For CSV: binary as base64, nested columns as JSON, and empty text as null, which CSV does not tell apart.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType

    if format != "csv":
        return frame
    columns = []
    for field in frame.schema.fields:
        column = F.col(f"`{field.name.replace('`', '``')}`")
        if isinstance(field.dataType, BinaryType):
            column = F.nullif(F.base64(column), F.lit("")).alias(field.name)
        elif isinstance(field.dataType, StringType):
            column = F.nullif(column, F.lit("")).alias(field.name)
        elif isinstance(field.dataType, (ArrayType, MapType, StructType)):
            column = F.to_json(column).alias(field.name)
        columns.append(column)
    return frame.select(*columns)
