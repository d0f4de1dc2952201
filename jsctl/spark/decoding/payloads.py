"""Payloads as Arrow arrays of what is in them, and which of them could not be decoded."""

import datetime
import functools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from jsctl.spark.decoding.avro import AvroDecoder
from jsctl.spark.decoding.compression import decompress
from jsctl.spark.decoding.protobuf import ProtobufDecoder

KINDS = ("avro", "protobuf")


@dataclass(frozen=True, slots=True)
class Decoding:
    """How to decode payloads.

    kind: one of KINDS; empty for bytes. schema: an Avro schema as JSON, or a Protobuf descriptor file.
    message: the Protobuf message. compression: as `decompress` takes it; empty for none. registry: payloads
    begin with the id of a schema, as clients of a schema registry write them.
    """

    kind: str = ""
    schema: bytes = b""
    message: str = ""
    compression: str = ""
    registry: bool = False


class PayloadDecoder:
    """Decodes arrays of payloads. type: of what is in them. Raises BadInput, MissingDependency."""

    def __init__(self, decoding: Decoding) -> None:
        self._decoding = decoding
        self._decode: Callable[[bytes], Any] = bytes
        self.type: pa.DataType = pa.binary()
        if decoding.kind:
            decoder = (
                AvroDecoder(decoding.schema.decode(errors="replace"))
                if decoding.kind == "avro"
                else ProtobufDecoder(decoding.schema, decoding.message)
            )
            self._decode, self.type = decoder.decode, decoder.type

    def decode(self, payloads: pa.Array) -> pa.Array:
        """Return a struct for each payload: `value`, null where it is bad, and `is_bad`."""
        values = [self._value(data) for data in payloads.to_pylist()]
        try:
            array = pa.array(values, self.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # one has a number out of range
            values = [value if _fits(value, self.type) else None for value in values]
            array = pa.array(values, self.type)
        is_bad = pa.array([value is None for value in values], pa.bool_())
        return pa.StructArray.from_arrays([array, is_bad], names=["value", "is_bad"])

    def _value(self, data: bytes | None) -> Any:
        """Return what is in a payload, None when it cannot be decoded."""
        try:
            unpacked = (
                decompress(data or b"", self._decoding.compression) if self._decoding.compression else data
            )
            if self._decoding.registry:
                unpacked = _without_schema_id(unpacked or b"", self._decoding.kind)
            return _for_arrow(self._decode(unpacked or b""), self.type)
        except ValueError:
            return None


@functools.lru_cache(4)
def payload_decoder(decoding: Decoding) -> PayloadDecoder:
    """Return the decoder of this process. Raises BadInput, MissingDependency."""
    return PayloadDecoder(decoding)


def _without_schema_id(data: bytes, kind: str) -> bytes:
    """Return a payload without the 5 bytes before it (0, then the id), and the places of a message after
    them."""
    if len(data) < 5 or data[0]:
        raise ValueError("it does not begin with the id of a schema")
    at = 5
    if kind == "protobuf":
        count, at = _decode_zigzag(data, at)
        for _ in range(count):
            _, at = _decode_zigzag(data, at)
    return data[at:]


def _decode_zigzag(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise ValueError("it is cut")


def _for_arrow(value: Any, type: pa.DataType) -> Any:
    """Return a decoded value as Arrow takes it."""
    if value is None:
        return None
    if pa.types.is_struct(type):
        return {field.name: _for_arrow(value.get(field.name), field.type) for field in type}
    if pa.types.is_list(type):
        return [_for_arrow(one, type.value_type) for one in value]
    if pa.types.is_map(type):
        return [(key, _for_arrow(one, type.item_type)) for key, one in value.items()]
    if pa.types.is_string(type) and not isinstance(value, str):
        return str(value) if isinstance(value, uuid.UUID) else json.dumps(value, default=str)
    if isinstance(value, datetime.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1_000_000 + value.microsecond
    return Decimal(value) if pa.types.is_decimal(type) else value


def _fits(value: Any, type: pa.DataType) -> bool:
    try:
        pa.array([value], type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True
