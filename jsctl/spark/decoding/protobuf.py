"""Protobuf messages: their Arrow type, and payloads as Python values.

A message within itself is text, its JSON, and so are `google.protobuf.Struct`, `Value` and `ListValue`, which
stand for JSON.
"""

from datetime import UTC
from typing import Any

import pyarrow as pa

from jsctl.errors import BadInput, MissingDependency
from jsctl.schema.remote.definitions import INSTALL_HINT

_TIMESTAMP = "google.protobuf.Timestamp"
_JSON = ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue")
"""Messages that stand for JSON."""


class ProtobufDecoder:
    """A decoder of messages of one type.

    Args:
        descriptors: the output of `protoc --include_imports --descriptor_set_out`.
        message: the full name of the type, such as shop.Order; empty if there is only one.

    Raises BadInput, MissingDependency.
    """

    def __init__(self, descriptors: bytes, message: str) -> None:
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
            from google.protobuf.message import DecodeError
        except ImportError:
            raise MissingDependency("protobuf is not installed", INSTALL_HINT) from None
        try:
            files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
            pool = descriptor_pool.DescriptorPool()
            for file in files.file:
                pool.Add(file)
        except (DecodeError, TypeError) as error:
            raise BadInput(
                f"the descriptor file is not valid: {error}",
                "write it with protoc --include_imports --descriptor_set_out",
            ) from None
        names = [
            f"{file.package}.{type.name}".lstrip(".")
            for file in files.file
            if not file.package.startswith("google.protobuf")
            for type in file.message_type
        ]
        if not message and len(names) != 1:
            raise BadInput("the descriptor file has several messages", f"name one of {', '.join(names)}")
        try:
            descriptor = pool.FindMessageTypeByName(message or names[0])
        except KeyError:
            raise BadInput(
                f"the descriptor file has no message {message}", f"it has {', '.join(names) or 'none'}"
            ) from None
        self._class: Any = message_factory.GetMessageClass(descriptor)
        self._error = DecodeError
        self.type = _build_message_type(descriptor, ())

    def decode(self, data: bytes) -> Any:
        """Return a message as a dict. Raises ValueError for data that is not of that type."""
        try:
            return _message_to_dict(self._class.FromString(data))
        except (self._error, UnicodeDecodeError) as error:
            raise ValueError(f"it is not a message of the type: {error}") from None


def _build_message_type(descriptor: Any, enclosing: tuple[str, ...]) -> pa.DataType:
    if descriptor.full_name == _TIMESTAMP:
        return pa.timestamp("us", tz="UTC")
    if descriptor.full_name in (*_JSON, *enclosing):
        return pa.string()  # columns cannot be recursive
    path = (*enclosing, descriptor.full_name)
    return pa.struct([pa.field(field.name, _build_field_type(field, path)) for field in descriptor.fields])


def _build_field_type(field: Any, enclosing: tuple[str, ...]) -> pa.DataType:
    if _is_map(field):
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


def _is_map(field: Any) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _message_to_dict(message: Any) -> Any:
    if message.DESCRIPTOR.full_name == _TIMESTAMP:
        try:
            return message.ToDatetime(tzinfo=UTC)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"it has a time out of range: {error}") from None
    if message.DESCRIPTOR.full_name in _JSON:
        return _parse_json_message(message)
    return {
        field.name: None
        if field.has_presence and not message.HasField(field.name)
        else _convert_field(field, getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
    }


def _parse_json_message(message: Any) -> Any:
    """Return the JSON value that a message stands for."""
    match message.DESCRIPTOR.name:
        case "Struct":
            return {key: _parse_json_message(message.fields[key]) for key in sorted(message.fields)}
        case "ListValue":
            return [_parse_json_message(item) for item in message.values]
    kind = message.WhichOneof("kind")
    if kind in (None, "null_value"):
        return None
    value = getattr(message, kind)
    if kind in ("struct_value", "list_value"):
        return _parse_json_message(value)
    is_whole = kind == "number_value" and value.is_integer() and abs(value) < 1 << 53
    return int(value) if is_whole else value


def _convert_field(field: Any, value: Any) -> Any:
    if _is_map(field):
        value_field = field.message_type.fields_by_name["value"]
        return {
            key: _convert_value(value_field, value[key]) for key in sorted(value)
        }  # in an order, which maps have not
    return (
        [_convert_value(field, item) for item in value] if field.is_repeated else _convert_value(field, value)
    )


def _convert_value(field: Any, value: Any) -> Any:
    if field.message_type:
        return _message_to_dict(value)
    if field.enum_type:
        enum_value = field.enum_type.values_by_number.get(value)
        return enum_value.name if enum_value else str(value)
    return value
