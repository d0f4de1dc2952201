"""Payloads that begin with the id of a schema, decoded by the schema that each names."""

from collections.abc import Callable
from typing import Any

from jsctl.errors import BadInput
from jsctl.schema.payloads.avro import AvroReader
from jsctl.schema.payloads.protobuf import ProtobufReader
from jsctl.schema.remote.definitions import find_message_name, join_avro, join_protobuf
from jsctl.schema.remote.registry import SchemaRegistry, UnknownSchema
from jsctl.schema.remote.wire import parse_message_place, parse_payload


class RegistryReader:
    """A reader of payloads that begin with the id of a schema.

    kind: avro or protobuf, if payloads of other kinds are bad. table_text: the Avro schema to which records
    are converted; empty for none.
    """

    def __init__(self, registry: SchemaRegistry, kind: str = "", table_text: str = "") -> None:
        self._registry = registry
        self._kind = kind
        self._table_text = table_text
        self._decoders: dict[tuple[int, tuple[int, ...]], Callable[[bytes], Any]] = {}

    def decode(self, data: bytes) -> Any:
        """Return a record or message as a dict; the bytes after the id where the schema is a JSON schema.

        Raises ValueError for one that is not of its schema, or of none that the registry has, and what
        `SchemaRegistry.fetch` raises.
        """
        id, rest = parse_payload(data)
        place: tuple[int, ...] = ()
        try:
            kind = self._kind or self._registry.fetch(id).kind.lower()
            if kind == "protobuf":
                place, rest = parse_message_place(rest)
            if (id, place) not in self._decoders:
                self._decoders[id, place] = self._build(kind, id, place)
        except (UnknownSchema, BadInput) as error:
            raise ValueError(str(error)) from None
        return self._decoders[id, place](rest)

    def _build(self, kind: str, id: int, place: tuple[int, ...]) -> Callable[[bytes], Any]:
        """Return what decodes payloads of a schema. Raises UnknownSchema, BadInput for one of another
        kind."""
        if kind == "json":
            return bytes
        schema, message = fetch_definition(self._registry, kind, id, place)
        if kind == "avro":
            return AvroReader(schema.decode(errors="replace"), self._table_text).decode
        return ProtobufReader(schema, message).decode


def fetch_definition(
    registry: SchemaRegistry, kind: str, id: int, place: tuple[int, ...]
) -> tuple[bytes, str]:
    """Return a schema, as JSON or as descriptors, and the name of the Protobuf message at a place.

    Raises UnknownSchema, BadInput for a schema of another kind or without such a message, and what
    `SchemaRegistry.fetch` raises.
    """
    schema = registry.fetch(id)
    if schema.kind != kind.upper():
        raise BadInput(f"schema {id} of the registry is of {schema.kind.capitalize()}, not of {kind}")
    if kind == "avro":
        return join_avro(schema).encode(), ""
    descriptors = join_protobuf(schema)
    try:
        return descriptors, find_message_name(descriptors, place)
    except ValueError as error:
        raise BadInput(f"schema {id} of the registry cannot be used: {error}") from None
