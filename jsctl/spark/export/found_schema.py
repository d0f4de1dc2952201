"""The schema of JSON payloads, found in the messages."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jsctl.errors import BadInput
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export.layout import TableLayout, decode_data

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

_CORRUPT = "_jsctl_corrupt"
_TRIMMED = r"btrim(CAST(data AS STRING), ' \t\r\n')"
_IS_OBJECT = (
    "is_valid_utf8(CAST(data AS STRING))"
    f" AND startswith({_TRIMMED}, '{{') AND endswith({_TRIMMED}, '}}')"
    " AND coalesce(json_array_length(concat('[', CAST(data AS STRING), ']')), 0) = 1"
)
"""SQL: whether a payload is exactly one JSON object. from_json would take the first item of an array, ignore
text after an object, and replace bytes that are not UTF-8."""


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
