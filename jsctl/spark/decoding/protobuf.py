"""Protobuf messages: their Arrow type.

A message within itself is text, its JSON, and so are `google.protobuf.Struct`, `Value` and `ListValue`, which
stand for JSON.
"""

from typing import Any

import pyarrow as pa

from jsctl.schema.payloads.protobuf import JSON, TIMESTAMP, ProtobufReader, is_map


class ProtobufDecoder:
    """A decoder of messages of one type. type: of its dicts. See `ProtobufReader`."""

    def __init__(self, descriptors: bytes, message: str) -> None:
        reader = ProtobufReader(descriptors, message)
        self.decode = reader.decode
        self.type = _build_message_type(reader.descriptor, ())


def _build_message_type(descriptor: Any, enclosing: tuple[str, ...]) -> pa.DataType:
    if descriptor.full_name == TIMESTAMP:
        return pa.timestamp("us", tz="UTC")
    if descriptor.full_name in (*JSON, *enclosing):
        return pa.string()  # columns cannot be recursive
    path = (*enclosing, descriptor.full_name)
    return pa.struct([pa.field(field.name, _build_field_type(field, path)) for field in descriptor.fields])


def _build_field_type(field: Any, enclosing: tuple[str, ...]) -> pa.DataType:
    if is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return pa.map_(_build_value_type(key, enclosing), _build_value_type(value, enclosing))
    item = _build_value_type(field, enclosing)
    return pa.list_(pa.field("element", item)) if field.is_repeated else item


def _build_value_type(field: Any, enclosing: tuple[str, ...]) -> pa.DataType:
    """Return the type of a field's value. Unsigned numbers get a type that holds all their values."""
    kinds = {
        field.TYPE_UINT64: pa.decimal128(20, 0),
        field.TYPE_FIXED64: pa.decimal128(20, 0),
        field.TYPE_BYTES: pa.binary(),
    }
    if field.type in kinds:
        return kinds[field.type]
    by_python = {
        field.CPPTYPE_INT32: pa.int32(),
        field.CPPTYPE_INT64: pa.int64(),
        field.CPPTYPE_UINT32: pa.int64(),
        field.CPPTYPE_DOUBLE: pa.float64(),
        field.CPPTYPE_FLOAT: pa.float32(),
        field.CPPTYPE_BOOL: pa.bool_(),
        field.CPPTYPE_ENUM: pa.string(),
        field.CPPTYPE_STRING: pa.string(),
    }
    return by_python.get(field.cpp_type) or _build_message_type(field.message_type, enclosing)
