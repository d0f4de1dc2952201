"""Payloads decoded to Arrow arrays, with flags for those that could not be decoded."""

import base64
import binascii
import datetime
import functools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jsctl.base.json_text import encode_json, to_json_value
from jsctl.schema.payloads.compression import decompress
from jsctl.schema.remote.wire import parse_message_place, parse_payload
from jsctl.spark.decoding.avro import AvroDecoder
from jsctl.spark.decoding.model import SKIP_ID, Decoding, KindDecoder
from jsctl.spark.decoding.protobuf import ProtobufDecoder
from jsctl.spark.decoding.registry_decoder import RegistryDecoder

_PART_SIZE = 256
"""Number of payloads that are decoded one by one when one of them is bad."""


class PayloadDecoder:
    """A decoder of arrays of payloads. type: of the decoded values. Raises BadInput, MissingDependency."""

    def __init__(self, decoding: Decoding) -> None:
        self._decoding = decoding
        self._skips_id = decoding.registry == SKIP_ID
        self._decoder = _build_decoder(decoding)
        self.type = self._decoder.type

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return the values of the payloads, null for bad ones, and whether each is bad."""
        if self._decoding.compression or self._skips_id:
            payloads = pa.array(map(self._unpack, payloads.to_pylist()), pa.binary())
            is_bad = pc.is_null(payloads)
        else:
            payloads, is_bad = payloads.fill_null(b""), None
        if is_bad is None or not pc.any(is_bad).as_py():
            values = self._decoder.decode_all(payloads)
            if values is not None:
                return values, pa.repeat(False, len(values))
            if len(payloads) > _PART_SIZE:  # a bad payload should not slow all of them down
                parts = [
                    self.decode(payloads[at : at + _PART_SIZE]) for at in range(0, len(payloads), _PART_SIZE)
                ]
                values, is_bad = zip(*parts, strict=True)
                return pa.concat_arrays(values), pa.concat_arrays(is_bad)
        return self._decode_each(payloads)

    def _decode_each(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array]:
        values = [None if data is None else self._decode_or_none(data) for data in payloads.to_pylist()]
        try:
            array = pa.array(values, self.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # a number is out of range
            values = [value if _is_valid_for(value, self.type) else None for value in values]
            array = pa.array(values, self.type)
        return array, pa.array([value is None for value in values], pa.bool_())

    def _unpack(self, data: bytes | None) -> bytes | None:
        """Return a payload decompressed, without the prefix of a schema registry; None for a bad one."""
        try:
            unpacked = data or b""
            if self._decoding.compression:
                unpacked = decompress(unpacked, self._decoding.compression)
            return _without_schema_id(unpacked, self._decoding.kind) if self._skips_id else unpacked
        except ValueError:
            return None

    def _decode_or_none(self, data: bytes) -> Any:
        try:
            return self._decoder.decode(data)
        except ValueError:
            return None


@functools.lru_cache(4)
def build_payload_decoder(decoding: Decoding) -> PayloadDecoder:
    """Return the decoder of this process. Raises BadInput, MissingDependency."""
    return PayloadDecoder(decoding)


def _build_decoder(decoding: Decoding) -> KindDecoder:
    text = decoding.schema.decode(errors="replace")
    match decoding.kind:
        case "json" | "variant":
            from pyspark.sql.pandas.types import to_arrow_type
            from pyspark.sql.types import VariantType

            from jsctl.spark.decoding.ddl import parse_ddl
            from jsctl.spark.decoding.json_payloads import JsonDecoder
            from jsctl.spark.decoding.variants import VariantDecoder

            if decoding.kind == "variant":
                return VariantDecoder(to_arrow_type(VariantType()))
            return JsonDecoder(to_arrow_type(parse_ddl(text), timezone="UTC"))
        case "avro" | "protobuf" if decoding.has_address:
            return _Records(RegistryDecoder(decoding))
        case "avro":
            return _Records(AvroDecoder(text))
        case "protobuf":
            return _Records(ProtobufDecoder(decoding.schema, decoding.message))
        case "text":
            return _Text()
        case "base64":
            return _Base64()
        case _:
            return _Bytes()


class _Records(KindDecoder):
    """A decoder that converts the results of an Avro or Protobuf decoder for Arrow."""

    def __init__(self, decoder: AvroDecoder | ProtobufDecoder | RegistryDecoder) -> None:
        self.type = decoder.type
        self._decode: Callable[[bytes], Any] = decoder.decode

    def decode(self, data: bytes) -> Any:
        return _to_arrow_value(self._decode(data), self.type)


class _Text(KindDecoder):
    type = pa.string()

    def decode(self, data: bytes) -> Any:
        return data.decode()

    def decode_all(self, payloads: pa.Array) -> pa.Array | None:
        try:
            return payloads.cast(self.type)
        except pa.ArrowInvalid:
            return None


class _Base64(KindDecoder):
    type = pa.binary()

    def decode(self, data: bytes) -> Any:
        try:
            return base64.b64decode(b"".join(data.split()), validate=True)
        except binascii.Error as error:
            raise ValueError(f"it is not base64: {error}") from None


class _Bytes(KindDecoder):
    type = pa.binary()

    def decode(self, data: bytes) -> Any:
        return data

    def decode_all(self, payloads: pa.Array) -> pa.Array | None:
        return payloads


def _without_schema_id(data: bytes, kind: str) -> bytes:
    """Return a payload without the id of its schema, and for Protobuf without the message's place in it."""
    rest = parse_payload(data).rest
    return parse_message_place(rest)[1] if kind == "protobuf" else rest


def _to_arrow_value(value: Any, type: pa.DataType) -> Any:
    """Convert a decoded value for Arrow."""
    if value is None:
        return None
    if pa.types.is_struct(type):
        return {field.name: _to_arrow_value(value.get(field.name), field.type) for field in type}
    if pa.types.is_list(type):
        return [_to_arrow_value(item, type.value_type) for item in value]
    if pa.types.is_map(type):
        return [(key, _to_arrow_value(item, type.item_type)) for key, item in value.items()]
    if pa.types.is_string(type):
        plain = to_json_value(value)
        return plain if isinstance(plain, str) else encode_json(plain, number="{:f}".format)
    if isinstance(value, datetime.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1_000_000 + value.microsecond
    return Decimal(value) if pa.types.is_decimal(type) else value


def _is_valid_for(value: Any, type: pa.DataType) -> bool:
    try:
        pa.array([value], type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True
