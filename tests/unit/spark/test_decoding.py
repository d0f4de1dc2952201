"""Payloads in Avro, Protobuf and compressed, without Spark."""

import datetime
import gzip
import io
import json
import struct
import uuid
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
import zstandard

from jsctl.errors import BadInput
from jsctl.schema.payloads import compression
from jsctl.spark.decoding.model import SKIP_ID, Decoding
from jsctl.spark.decoding.payloads import PayloadDecoder
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

S2_STREAM = b"\xff\x06\x00\x00S2sTwO" + b"\x01\x09\x00\x00" + b"\0\0\0\0hello" + b"\xfe\x01\x00\x00\0"
"""The identifier, an uncompressed block, padding."""


SKIPPABLE = struct.pack("<II", 0x184D2A5F, 4) + b"meta"


def decode(decoding: Decoding, *payloads: bytes) -> list[Any]:
    values, is_bad = PayloadDecoder(decoding).decode(pa.array(payloads, pa.binary()))
    assert values.is_null().to_pylist() == is_bad.to_pylist()
    rows: list[Any] = values.to_pylist()
    return rows


@pytest.mark.parametrize(
    ("kind", "packed"),
    [
        ("gzip", gzip.compress(b"hel", mtime=0) + gzip.compress(b"lo", mtime=0)),
        ("zstd", zstandard.compress(b"hello")),
        ("zstd", SKIPPABLE + zstandard.compress(b"hel") + SKIPPABLE + zstandard.compress(b"lo")),
        ("s2", S2_STREAM),
    ],
)
def test_compressed_payloads(kind: str, packed: bytes) -> None:
    assert compression.decompress(packed, kind) == b"hello"
    assert compression.decompress(packed, "auto") == b"hello"
    assert compression.decompress(b"", kind) == b""
    assert decode(Decoding(compression=kind), packed, b"plain", packed[:-3]) == [b"hello", None, None]
    assert decode(Decoding(compression="auto"), b"plain") == [b"plain"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_bad(pack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MAX_SIZE", 1 << 20)
    assert decode(Decoding(compression="auto"), pack(bytes(2 << 20)), pack(bytes(1 << 20))) == [
        None,
        bytes(1 << 20),
    ]


def test_avro() -> None:
    good = avro_payload(7, city="X")
    expected = {
        "id": 7,
        "state": "NEW",
        "price": Decimal("1.50"),
        "at": datetime.datetime(2026, 11, 21, 6, 57, 5, tzinfo=datetime.UTC),
        "day": datetime.date(2026, 11, 21),
        "to": {"city": "X"},
        "tags": ["a", "b"],
        "counts": [("x", 1)],
        "any": "text",
        "note": None,
    }
    avro = Decoding("avro", AVRO.encode())
    assert decode(avro, good, good[:-1], good + b"\0", b"") == [expected, None, None, None]
    registry = Decoding("avro", AVRO.encode(), registry=SKIP_ID)
    assert decode(registry, struct.pack(">bI", 0, 42) + good, good) == [expected, None]
    packed = Decoding("avro", AVRO.encode(), compression="gzip")
    assert decode(packed, gzip.compress(good)) == [expected]


def test_protobuf() -> None:
    good = protobuf_payload(7, city="X")
    expected = {
        "id": 7,
        "big": Decimal(2**64 - 1),
        "state": "PAID",
        "at": datetime.datetime(2026, 11, 21, 6, 57, 5, tzinfo=datetime.UTC),
        "to": {"city": "X"},
        "tags": ["a", "b"],
        "counts": [("x", 1)],
        "note": None,
    }
    protobuf = Decoding("protobuf", descriptors(), "shop.Order")
    assert decode(protobuf, good, b"\xff") == [expected, None]
    registry = Decoding("protobuf", descriptors(), "shop.Order", registry=SKIP_ID)
    assert decode(registry, b"\0\0\0\0\7\0" + good, b"\0\0\0\0\7\2\0" + good) == [expected, expected]
    assert decode(registry, b"\0\0\0\0\7\x80") == [None]


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 2}
SHORT = {**DECIMAL, "precision": 9}
UUID = {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}
NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
TIMESTAMP = {"type": "long", "logicalType": "timestamp-micros"}
INNER = {
    "type": "record",
    "name": "Inner",
    "fields": [
        {"name": name, "type": type} for name, type in (("d", SHORT), ("b", "bytes"), ("n", "double"))
    ],
}
ID = uuid.UUID(int=5)


@pytest.mark.parametrize(
    ("type", "written", "value"),
    [
        (UUID, ID.bytes, str(ID)),
        (["null", UUID], ID.bytes, str(ID)),
        (["int", UUID], ID.bytes, str(ID)),
        (["null", "int", "bytes"], b"\xff\0", "/wA="),
        (["string", SHORT], Decimal("1.50"), "1.50"),
        (["null", SHORT], Decimal("1.50"), Decimal("1.50")),
        (["string", TIMESTAMP], NOON, "2026-11-21T12:00:00+00:00"),
        (["int", {"type": "array", "items": SHORT}], [Decimal("1.10")], "[1.10]"),
        (
            ["int", INNER],
            {"d": Decimal("1.10"), "b": b"\xff", "n": float("nan")},
            '{"d": 1.10, "b": "/w==", "n": "NaN"}',
        ),
        (DECIMAL, Decimal("1" * 48 + ".50"), "1" * 48 + ".50"),
        (["null", DECIMAL], None, None),
        ({"type": "map", "values": DECIMAL}, {"a": Decimal("1.50")}, [("a", "1.50")]),
        (["null", "R"], {"ok": 2, "v": {"ok": 3, "v": None}}, '{"ok": 2, "v": {"ok": 3, "v": null}}'),
    ],
)
def test_avro_without_a_column_of_its_own(type: Any, written: Any, value: Any) -> None:
    """The other field of the record is decoded in any case."""
    fields = [{"name": "ok", "type": "int"}, {"name": "v", "type": type}]
    schema = {"type": "record", "name": "R", "fields": fields}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {"ok": 1, "v": written})
    assert decode(Decoding("avro", json.dumps(schema).encode()), out.getvalue()) == [{"ok": 1, "v": value}]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (
            "Struct",
            {"a": 1, "b": [0.5, None, True, {"c": "x"}]},
            '{"a": 1, "b": [0.5, null, true, {"c": "x"}]}',
        ),
        ("ListValue", [1, "x"], '[1, "x"]'),
        ("Value", "x", "x"),
        ("Value", float("nan"), "NaN"),
        ("Value", None, None),
    ],
)
def test_protobuf_that_stands_for_json(kind: str, value: Any, text: str | None) -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

    file = descriptor_pb2.FileDescriptorProto(name="e.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    event = file.message_type.add(name="Event")
    event.field.add(name="id", number=1, type="TYPE_INT32", label="LABEL_OPTIONAL")
    for number, (name, type) in enumerate((("any", f"google.protobuf.{kind}"), ("inner", "shop.Event")), 2):
        event.field.add(
            name=name, number=number, type="TYPE_MESSAGE", type_name=f".{type}", label="LABEL_OPTIONAL"
        )
    known = descriptor_pb2.FileDescriptorProto()
    struct_pb2.DESCRIPTOR.CopyToProto(known)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(known)
    pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Event"))(id=7)
    message.inner.id = 8
    wire = getattr(struct_pb2, kind)()
    match value:
        case dict():
            wire.update(value)
        case list():
            wire.extend(value)
        case None:
            wire.null_value = 0
        case _:
            setattr(wire, "string_value" if isinstance(value, str) else "number_value", value)
    message.any.MergeFromString(wire.SerializeToString())
    decoding = Decoding("protobuf", descriptor_pb2.FileDescriptorSet(file=[known, file]).SerializeToString())
    inner = '{"id": 8, "any": null, "inner": null}'
    assert decode(decoding, message.SerializeToString()) == [{"id": 7, "any": text, "inner": inner}]


@pytest.mark.parametrize(
    ("decoding", "words"),
    [
        (Decoding("avro", b"{"), "the Avro schema is not valid"),
        (Decoding("avro", b'"string"'), "is not that of a record"),
        (Decoding("protobuf", b"\xff"), "the descriptor file is not valid"),
        (Decoding("protobuf", descriptors()), "name one of shop.Order, shop.Address"),
        (Decoding("protobuf", descriptors(), "shop.None"), "has no message shop.None"),
    ],
)
def test_schemas_that_cannot_be(decoding: Decoding, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        PayloadDecoder(decoding)


def test_numbers_that_do_not_fit_make_one_row_bad() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "n", "type": {"type": "long"}}]}
    wide = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, wide, {"n": 1 << 40})
    narrow = {**schema, "fields": [{"name": "n", "type": "int"}]}
    assert decode(Decoding("avro", json.dumps(narrow).encode()), out.getvalue(), b"\x02") == [None, {"n": 1}]
