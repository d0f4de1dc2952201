"""Payloads in Avro, Protobuf and compressed, without Spark."""

import datetime
import gzip
import io
import json
import struct
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
import zstandard

from jsctl.errors import BadInput
from jsctl.spark.decoding import compression
from jsctl.spark.decoding.model import SKIP_ID, Decoding
from jsctl.spark.decoding.payloads import PayloadDecoder
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

S2_STREAM = b"\xff\x06\x00\x00S2sTwO" + b"\x01\x09\x00\x00" + b"\0\0\0\0hello" + b"\xfe\x01\x00\x00\0"
"""The identifier, an uncompressed block, padding."""


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


RECURSIVE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


@pytest.mark.parametrize(
    ("decoding", "words"),
    [
        (Decoding("avro", b"{"), "the Avro schema is not valid"),
        (Decoding("avro", b'"string"'), "is not that of a record"),
        (Decoding("avro", json.dumps(RECURSIVE).encode()), "Node contains itself"),
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
