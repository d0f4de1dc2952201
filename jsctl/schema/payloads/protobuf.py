"""Protobuf messages as Python values."""

from datetime import UTC
from typing import Any

from jsctl.errors import BadInput, MissingDependency
from jsctl.schema.remote.definitions import INSTALL_HINT

TIMESTAMP = "google.protobuf.Timestamp"
JSON = ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue")
"""Messages that stand for JSON."""


class ProtobufReader:
    """A reader of messages of one type.

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
        except (DecodeError, TypeError, UnicodeDecodeError) as error:
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
            self.descriptor = pool.FindMessageTypeByName(message or names[0])
        except KeyError:
            raise BadInput(
                f"the descriptor file has no message {message}", f"it has {', '.join(names) or 'none'}"
            ) from None
        self._class: Any = message_factory.GetMessageClass(self.descriptor)
        self._error = DecodeError

    def decode(self, data: bytes) -> Any:
        """Return a message as a dict. Raises ValueError for data that is not of that type."""
        try:
            return _message_to_dict(self._class.FromString(data))
        except (self._error, UnicodeDecodeError) as error:
            raise ValueError(f"it is not a message of the type: {error}") from None


def is_map(field: Any) -> bool:
    """Return whether a field is a map."""
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _message_to_dict(message: Any) -> Any:
    if message.DESCRIPTOR.full_name == TIMESTAMP:
        try:
            return message.ToDatetime(tzinfo=UTC)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"it has a time out of range: {error}") from None
    if message.DESCRIPTOR.full_name in JSON:
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
    if is_map(field):
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
