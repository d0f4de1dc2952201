"""From messages to the columns of a table: payloads decoded, columns to partition by. Lazy: plans only.

| decode | columns for the payload                                                                      |
|--------|----------------------------------------------------------------------------------------------|
| (none) | data, binary; base64 where the format has no binary (CSV, and JSON by itself)                |
| text   | data, string; bad_payload where it is not UTF-8                                              |
| base64 | data, binary: the payload is base64; bad_payload where it is not                             |
| json   | one a field of the schema; bad_payload where it is no JSON object, or does not fit           |

bad_payload has the payload as it came; one that is empty is null in CSV. A field that has the name of another
column gets `data_` before it.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.session.cluster import missing
from jsctl.spark.session.session import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

BAD = "bad_payload"
DECODINGS = ("json", "text", "base64")
_CORRUPT = "_jsctl_corrupt"
_TRIMMED = r"btrim(CAST(data AS STRING), ' \t\r\n')"
_IS_OBJECT = (
    "is_valid_utf8(CAST(data AS STRING))"
    f" AND startswith({_TRIMMED}, '{{') AND endswith({_TRIMMED}, '}}')"
    " AND coalesce(json_array_length(concat('[', CAST(data AS STRING), ']')), 0) = 1"
)
"""One JSON object and nothing else: from_json takes the first of an array, passes over what follows an
object, and reads what is no UTF-8 with signs instead."""
_PARSED = "_jsctl_parsed"


class Shape(NamedTuple):
    """How a table looks.

    decode: one of DECODINGS or empty. schema: DDL for json. partition_by: `date`, `hour`, `subject:N`.
    keep: the payload's own column too, beside json's. headers: a column for them.
    """

    decode: str = ""
    schema: str = ""
    partition_by: tuple[str, ...] = ()
    keep: bool = False
    headers: bool = False


def partitions(wanted: Sequence[str]) -> list[tuple[str, str]]:
    """--partition-by as (column, SQL): date, hour (with its date) or subject:N, N from 1. Raises BadInput."""
    found: dict[str, str] = {}
    for one in wanted:
        token = re.fullmatch(r"subject:([1-9]\d{0,2})", one)
        if one in ("date", "hour"):
            found["date"] = "to_date(timestamp)"
            if one == "hour":
                found["hour"] = "hour(timestamp)"
        elif token:
            found[f"subject_{token[1]}"] = f"get(split(subject, '[.]'), {int(token[1]) - 1})"
        else:
            raise BadInput(f"--partition-by {one!r} is none of date, hour, subject:N", "such as subject:2")
    return list(found.items())


def parse_schema(spark: "SparkSession", ddl: str) -> "StructType":
    """Raises BadInput when Spark does not understand it."""
    from pyspark.sql.types import StructType

    try:
        found = StructType.fromDDL(ddl)
    except Exception as error:
        raise BadInput(
            f"--schema is no schema: {first_line(error).rstrip('.')}",
            "such as --schema 'id BIGINT, name STRING'",
        ) from None
    if not isinstance(found, StructType):
        raise BadInput(f"--schema {ddl!r} is one type", "name the fields, such as 'id BIGINT, name STRING'")
    return found


def infer(messages: "DataFrame") -> str:
    """The schema (DDL) that fits all JSON objects of `messages`. Raises BadInput when there is none."""
    from pyspark.sql.types import StructField, StructType

    texts = messages.where(_IS_OBJECT)
    reader = messages.sparkSession.read.option("columnNameOfCorruptRecord", _CORRUPT)
    found = reader.json(texts.selectExpr("CAST(data AS STRING) AS value"))
    fields = [StructField(f.name, f.dataType) for f in found.schema.fields if f.name != _CORRUPT]
    if not fields:
        raise BadInput(
            "no message has a JSON object with fields", "leave --decode json out, or give --schema"
        )
    return StructType(fields).toDDL()


def shaped(messages: "DataFrame", shape: Shape) -> "DataFrame":
    """The table's rows from messages. Raises BadInput."""
    meta = ["stream", "subject", "sequence", "timestamp", *(["headers"] if shape.headers else [])]
    split = partitions(shape.partition_by)
    raw = "CAST(data AS STRING)"
    if shape.decode == "json":
        frame = _json(messages, shape, [*meta, BAD, "data", *(name for name, _ in split)])
    elif shape.decode == "text":
        frame = messages.selectExpr(
            *meta,
            f"IF(is_valid_utf8({raw}), {raw}, NULL) AS data",
            f"IF(is_valid_utf8({raw}), NULL, data) AS {BAD}",
        )
    elif shape.decode == "base64":
        decoded = f"try_to_binary({raw}, 'base64')"
        frame = messages.selectExpr(
            *meta, f"{decoded} AS data", f"IF({decoded} IS NULL, data, NULL) AS {BAD}"
        )
    else:
        frame = messages.selectExpr(*meta, "data")
    return frame.selectExpr("*", *(f"{sql} AS `{name}`" for name, sql in split))


def _json(messages: "DataFrame", shape: Shape, taken: Sequence[str]) -> "DataFrame":
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    schema = parse_schema(messages.sparkSession, shape.schema)
    text = F.col("data").cast("string")
    read = StructType([*schema.fields, StructField(_CORRUPT, StringType())])
    parsed = F.from_json(text, read, {"columnNameOfCorruptRecord": _CORRUPT})
    frame = messages.withColumn(_PARSED, parsed)
    good = F.expr(f"{_IS_OBJECT} AND {_PARSED} IS NOT NULL AND {_PARSED}.{_CORRUPT} IS NULL")
    used = {name.lower() for name in taken}
    columns = [F.col(name) for name in taken if name in frame.columns and name != "data"]
    for field in schema.fields:
        name = field.name
        while name.lower() in used:
            name = f"data_{name}"
        used.add(name.lower())
        columns.append(F.when(good, F.col(_PARSED)[field.name]).alias(name))
    if shape.keep:
        columns.append(F.col("data"))
    return frame.select(*columns, F.when(~F.coalesce(good, F.lit(False)), F.col("data")).alias(BAD))


def flat(frame: "DataFrame", format: str) -> "DataFrame":
    """Rows as a format takes them.

    For CSV: binary as base64, nested columns as JSON; empty text as null, which is the same there.
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


def failure(error: Exception) -> JsctlError:
    """What a failed Spark job says, as ours: an error of a task of ours keeps its line and its status."""
    from jsctl import errors
    from jsctl.spark.source.reader import DataLoss

    if isinstance(error, JsctlError):
        return error
    text = str(error)
    if lacking := missing(text):
        return lacking
    ours = re.findall(r"^(?:[\w.]*: )?jsctl\.[\w.]*\.(\w+): (.*)$", text, re.MULTILINE)
    for name, said in reversed(ours):
        kind = DataLoss if name == "DataLoss" else getattr(errors, name, None)
        message = said.replace("set failOnDataLoss to false", "--no-fail-on-data-loss is there")
        message = message.replace("set failOnDeleted to false", "leave --fail-on-deleted out")
        if isinstance(kind, type) and issubclass(kind, JsctlError) and kind is not errors.ApiError:
            return kind(message)
        return JsctlError(message)
    # Of an error in the JVM the first line says only what was called.
    inner = re.match(r"An error occurred while calling .*\n: [\w.$]+: (.*)", text)
    return JsctlError(f"Spark failed: {first_line(RuntimeError(inner[1])) if inner else first_line(error)}")
