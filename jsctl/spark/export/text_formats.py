"""Rows for formats of text, which have no binary type: there it is unbroken base64, and the names of columns
and fields, such as `data_base64`, say so. An empty payload is null in CSV.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsctl.errors import BadInput
from jsctl.spark.export.formats import FILE_FORMATS, build_spark_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField


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
