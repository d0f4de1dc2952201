"""Avro records: their Arrow type.

Text are decimals of more than 38 digits, which Spark has not, unions of several types, and a record within
itself: the last two as JSON, unless they are text or a single value.
"""

from typing import Any

import pyarrow as pa

from jsctl.errors import BadInput
from jsctl.schema.payloads.avro import AvroReader

_PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "time-millis": pa.int64(),
    "time-micros": pa.int64(),
    "uuid": pa.string(),
}
"""Logical type -> Arrow's; times of day are microseconds."""

_MAX_DIGITS = 38
"""Digits of Spark's decimals, at most."""

_WIDER = ({"int", "long"}, pa.int64()), ({"float", "double"}, pa.float64())
"""Unions of two number types, each with the Arrow type that holds both."""


class AvroDecoder:
    """A decoder of records of one schema. type: of the records. See `AvroReader`."""

    def __init__(self, text: str) -> None:
        reader = AvroReader(text)
        self.decode = reader.decode
        self.type = _build_arrow_type(reader.schema, {}, ())
        if not pa.types.is_struct(self.type):
            raise BadInput("the Avro schema is not that of a record", "use the schema of whole payloads")


def _build_arrow_type(schema: Any, definitions: dict[str, Any], enclosing: tuple[str, ...]) -> pa.DataType:
    """Return the Arrow type of a schema. definitions: schemas so far, by name. enclosing: names of the
    records that contain this one."""
    if isinstance(schema, list):
        kinds = [kind for kind in schema if kind != "null"]
        if len(kinds) == 1:
            return _build_arrow_type(kinds[0], definitions, enclosing)
        names = {kind for kind in kinds if isinstance(kind, str)}
        wider = next((type for members, type in _WIDER if names == members and len(kinds) == 2), None)
        return wider or pa.string()  # any other union is text, or JSON
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            return _PRIMITIVES[schema]
        if schema in enclosing:
            return pa.string()  # columns cannot be recursive
        if schema not in definitions:
            raise BadInput(f"the Avro schema names {schema}, which it does not define")
        return _build_arrow_type(definitions[schema], definitions, enclosing)
    kind, logical = schema["type"], schema.get("logicalType")
    if isinstance(kind, dict | list):
        return _build_arrow_type(kind, definitions, enclosing)
    if kind in ("record", "enum", "fixed"):
        namespace = schema.get("namespace", "")
        for name in {schema["name"], f"{namespace}.{schema['name']}"}:
            definitions[name] = schema
    if kind == "record":
        path = (*enclosing, schema["name"], f"{schema.get('namespace', '')}.{schema['name']}")
        fields = [
            pa.field(field["name"], _build_arrow_type(field["type"], definitions, path))
            for field in schema["fields"]
        ]
        return pa.struct(fields)
    if logical == "decimal" and "precision" in schema:
        is_short = schema["precision"] <= _MAX_DIGITS
        return pa.decimal128(schema["precision"], schema.get("scale", 0)) if is_short else pa.string()
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if kind == "array":
        return pa.list_(pa.field("element", _build_arrow_type(schema["items"], definitions, enclosing)))
    if kind == "map":
        return pa.map_(pa.string(), _build_arrow_type(schema["values"], definitions, enclosing))
    return {"enum": pa.string(), "fixed": pa.binary()}.get(kind) or _build_arrow_type(
        kind, definitions, enclosing
    )
