"""Payloads with the id of a schema as JSON, for people."""

import io
from typing import Any

from jsctl.base.json_text import encode_json, parse_json, to_json_value
from jsctl.errors import BadInput, MissingDependency
from jsctl.schema.remote.avro import load_fastavro
from jsctl.schema.remote.definitions import INSTALL_HINT, find_message_name, join_avro, join_protobuf
from jsctl.schema.remote.registry import SchemaRegistry, UnknownSchema
from jsctl.schema.remote.wire import parse_message_place, parse_payload


class JsonDecoder:
    """A decoder of payloads by the schemas of a registry."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry = registry
        self._avro: dict[int, Any] = {}
        self._protobuf: dict[tuple[int, tuple[int, ...]], Any] = {}

    def decode(self, data: bytes) -> bytes:
        """Return a payload as JSON; as it is when it has no id, or is not one of its schema.

        Raises what `SchemaRegistry.fetch` does, except for an unknown id, BadInput for a schema that cannot
        be used, and MissingDependency.
        """
        try:
            id, rest = parse_payload(data)
            kind = self._registry.fetch(id).kind
            if kind == "AVRO":
                return self._decode_avro(id, rest)
            return self._decode_protobuf(id, rest) if kind == "PROTOBUF" else rest
        except (ValueError, UnknownSchema):
            return data
        except BadInput as error:
            raise BadInput(error.message, "leave --registry out to see payloads as they are") from None

    def _decode_avro(self, id: int, rest: bytes) -> bytes:
        fastavro = load_fastavro()
        try:
            if id not in self._avro:
                self._avro[id] = fastavro.parse_schema(parse_json(join_avro(self._registry.fetch(id))))
            record = fastavro.schemaless_reader(io.BytesIO(rest), self._avro[id])
        except BadInput:
            raise
        except Exception as error:  # fastavro raises many kinds of errors for wrong bytes
            raise ValueError(str(error)) from None
        return encode_json(to_json_value(record)).encode()

    def _decode_protobuf(self, id: int, rest: bytes) -> bytes:
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
            from google.protobuf.message import DecodeError
        except ImportError:
            raise MissingDependency("protobuf is not installed", INSTALL_HINT) from None
        place, data = parse_message_place(rest)
        if (id, place) not in self._protobuf:
            descriptors = join_protobuf(self._registry.fetch(id))
            name = find_message_name(descriptors, place)
            pool = descriptor_pool.DescriptorPool()
            try:
                for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors).file:
                    pool.Add(file)
                self._protobuf[id, place] = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
            except (TypeError, KeyError) as error:
                raise BadInput(f"the Protobuf schema of the registry is not valid: {error}") from None
        try:
            message = self._protobuf[id, place].FromString(data)
        except DecodeError as error:
            raise ValueError(str(error)) from None
        try:
            text: str = json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None)
        except json_format.Error as error:  # a time out of range, for one
            raise ValueError(str(error)) from None
        return text.encode()
