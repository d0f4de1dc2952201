"""Payloads of a schema registry, decoded by the schema that each names, for a table with one schema."""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jsctl.errors import BadInput
from jsctl.schema.remote.definitions import find_message_name, join_avro, join_protobuf
from jsctl.schema.remote.registry import SchemaRegistry, UnknownSchema, open_registry
from jsctl.schema.remote.wire import parse_message_place, parse_payload
from jsctl.spark.decoding.compression import decompress
from jsctl.spark.decoding.model import Decoding

if TYPE_CHECKING:  # they need pyarrow, which a command that is only loaded may lack
    from jsctl.spark.decoding.avro import AvroDecoder
    from jsctl.spark.decoding.protobuf import ProtobufDecoder


class RegistryDecoder:
    """A decoder of payloads that begin with the id of a schema. type: that of the table's schema.

    Raises BadInput, MissingDependency.
    """

    def __init__(self, decoding: Decoding) -> None:
        self._registry = open_registry(decoding.registry, decoding.login)
        self._kind = decoding.kind
        self._text = decoding.schema.decode(errors="replace")
        self._table = self._make_decoder(decoding.schema, decoding.message)
        self._decoders: dict[tuple[int, tuple[int, ...]], Callable[[bytes], Any]] = {}
        self.type = self._table.type

    def decode(self, data: bytes) -> Any:
        """Return a record or message as a dict.

        Raises ValueError for one that is not of its schema, or of none that the registry has, and what
        `SchemaRegistry.fetch` raises.
        """
        id, rest = parse_payload(data)
        place, rest = parse_message_place(rest) if self._kind == "protobuf" else ((), rest)
        if (id, place) not in self._decoders:
            try:
                self._decoders[id, place] = self._build(id, place)
            except (UnknownSchema, BadInput) as error:
                raise ValueError(str(error)) from None
        return self._decoders[id, place](rest)

    def _build(self, id: int, place: tuple[int, ...]) -> Callable[[bytes], Any]:
        """Return what decodes payloads of a schema. Raises UnknownSchema, BadInput for one of another
        kind."""
        schema, message = fetch_definition(self._registry, self._kind, id, place)
        return self._make_decoder(schema, message).decode

    def _make_decoder(self, schema: bytes, message: str) -> "AvroDecoder | ProtobufDecoder":
        if self._kind == "avro":
            from jsctl.spark.decoding.avro import AvroDecoder

            return AvroDecoder(schema.decode(errors="replace"), self._text)
        from jsctl.spark.decoding.protobuf import ProtobufDecoder

        return ProtobufDecoder(schema, message)


def fetch_definition(
    registry: SchemaRegistry, kind: str, id: int, place: tuple[int, ...]
) -> tuple[bytes, str]:
    """Return a schema as Decoding has it, and the name of the Protobuf message at a place.

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


def find_definition(decoding: Decoding, payload: bytes) -> tuple[bytes, str] | None:
    """Return the schema of a payload, and its message; None when the payload does not begin with an id.

    Raises what `fetch_definition` does.
    """
    try:
        data = decompress(payload, decoding.compression) if decoding.compression else payload
        id, rest = parse_payload(data)
        place = parse_message_place(rest)[0] if decoding.kind == "protobuf" else ()
    except ValueError:
        return None
    return fetch_definition(open_registry(decoding.registry, decoding.login), decoding.kind, id, place)


def encode_schema(kind: str, schema: bytes) -> str:
    """Return a schema as text: descriptors of Protobuf are in base64."""
    return base64.b64encode(schema).decode() if kind == "protobuf" else schema.decode()
