"""Payloads of a schema registry, decoded by the schema that each names, for a table with one schema."""

import base64

from jsctl.schema.payloads.compression import decompress
from jsctl.schema.payloads.registered import RegistryReader, fetch_definition
from jsctl.schema.remote.registry import open_registry
from jsctl.schema.remote.wire import parse_message_place, parse_payload
from jsctl.spark.decoding.model import Decoding


class RegistryDecoder:
    """A decoder of payloads that begin with the id of a schema. type: that of the table's schema.

    Raises BadInput, MissingDependency.
    """

    def __init__(self, decoding: Decoding) -> None:
        text = decoding.schema.decode(errors="replace")
        registry = open_registry(decoding.registry, decoding.login)
        self.decode = RegistryReader(registry, decoding.kind, text).decode
        if decoding.kind == "avro":
            from jsctl.spark.decoding.avro import AvroDecoder

            self.type = AvroDecoder(text).type
        else:
            from jsctl.spark.decoding.protobuf import ProtobufDecoder

            self.type = ProtobufDecoder(decoding.schema, decoding.message).type


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
