"""Payloads of every format as JSON values, and what is no payload of its format."""

import contextlib
import gzip
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import cbor2
import msgpack
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput
from jsctl.jetstream.backup.s2 import STREAM_START, build_frame
from jsctl.jetstream.find.expression import compile_expression
from jsctl.nats.message import Message
from jsctl.schema.payloads.decoder import KINDS, PayloadDecoder
from jsctl.schema.payloads.reader import Reader
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "json": lambda value: json.dumps(value).encode(),
    "msgpack": msgpack.packb,
    "cbor": cbor2.dumps,
}


@given(value=st.dictionaries(st.text(), _VALUES, max_size=4), compressed=st.booleans())
@pytest.mark.parametrize("kind", sorted(ENCODERS))
def test_every_value_comes_back(kind: str, value: Any, compressed: bool) -> None:
    data, kinds = ENCODERS[kind](value), [kind]
    if compressed:
        data, kinds = gzip.compress(data), ["gzip", kind]
    assert PayloadDecoder(kinds).decode(data) == value
    assert PayloadDecoder(["auto"]).decode(data) == value


@given(data=st.binary(max_size=200))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("avro", "protobuf")])
def test_any_bytes_are_a_value_or_bad(kind: str, data: bytes) -> None:
    with contextlib.suppress(ValueError):
        value = PayloadDecoder([kind]).decode(data)
        assert isinstance(value, bytes) or json.dumps(value)


def test_schemas_in_files() -> None:
    order = PayloadDecoder(["avro"], AVRO.encode()).decode(avro_payload(7, city="X"))
    assert (order["id"], order["price"], order["to"]) == (7, 1.5, {"city": "X"})
    decoder = PayloadDecoder(["zstd", "protobuf"], descriptors(), "shop.Order")
    order = decoder.decode(zstandard.compress(protobuf_payload(7, city="X")))
    assert (order["id"], order["to"]["city"]) == (7, "X")


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["json", "gzip"], "--decode json must be the last"),
        (["avro"], "needs a schema; specify --schema-file FILE or --registry URL"),
        (["auto", "json"], "--decode auto must be the last"),
    ],
)
def test_kinds_that_do_not_fit(kinds: list[str], words: str) -> None:
    with pytest.raises(BadInput) as raised:
        PayloadDecoder(kinds)
    assert words in f"{raised.value.message}; {raised.value.hint}"


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("json", b"", "it is empty"),
        ("json", b"\xff", "not JSON"),
        ("msgpack", b"\x92\x01", "incomplete input"),
        ("msgpack", b"\x91" * 5000 + b"\1", "not MessagePack"),
        ("cbor", cbor2.dumps({"a": 1}) + b"x", "more bytes after the value"),
        ("cbor", cbor2.dumps(10**5000), "thousands of digits"),
        ("cbor", b"\x81" * 5000 + b"\1", "depth"),
        ("gzip", b"plain", "not gzip"),
        ("s2", b"plain", "not an S2"),
        ("auto", b"\xff\xfe", "msgpack: .*cbor: "),
    ],
)
def test_bad_payloads_have_a_reason(kind: str, data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PayloadDecoder([kind]).decode(data)


def test_numbers_keep_their_digits() -> None:
    value = {"a": Decimal("1.10"), "b": Decimal("1.00000000000000000001"), "c": 10**30}
    decoded = PayloadDecoder(["cbor"]).decode(cbor2.dumps(value))
    assert decoded == {"a": 1.1, "b": "1.00000000000000000001", "c": 10**30}


def read(condition: str, data: bytes, headers: bytes = b"") -> tuple[bool, str]:
    reader = Reader(PayloadDecoder(["json"]), shows=False, condition=compile_expression(condition))
    matches = reader.read(Message("orders.eu", data, header_block=headers)) is not None
    return matches, reader.summarize()


@pytest.mark.parametrize(
    ("condition", "data", "matches", "words"),
    [
        ("amount > 100 and to.city == 'X'", b'{"amount": 101, "to": {"city": "X"}}', True, ""),
        ("amount > 100", b'{"amount": 100}', False, ""),
        ("subject startsWith 'orders.' and size == 3", b"\xff\xff\xff", True, ""),
        ("subject == 'orders.eu' and payload.subject == 'x'", b'{"subject": "x"}', True, ""),
        ("headers['A'] == 'b c'", b"", True, ""),
        ("len(payload) == 2 and payload[1] == 5", b"[4, 5]", True, ""),
        ("text matches '^o.d$'", b"old", True, ""),
        (
            "amount > 1",
            b"old",
            False,
            "1 message could not be decoded as json; the first: orders.eu: it is not",
        ),
        ("amount > 1", b'{"amount": "a"}', False, "could not be compared by --match; the first: orders.eu: "),
        ("amont > 1", b'{"amount": 2}', False, "no payload has amont, which --match names"),
    ],
)
def test_conditions(condition: str, data: bytes, matches: bool, words: str) -> None:
    found, summary = read(condition, data, b"NATS/1.0\r\nA: b c\r\n\r\n")
    assert found == matches
    assert words in summary if words else not summary


def test_fields() -> None:
    reader = Reader(PayloadDecoder(("json",)), fields=("a", "b[1].c", "b.0", "b[9]", "d.e"))
    found = reader.read(Message("s", b'{"a": 1, "b": [2, {"c": 3}], "d": 4}', ""))
    assert found and found.value == {"a": 1, "b[1].c": 3, "b.0": 2, "b[9]": None, "d.e": None}
    assert reader.summarize() == "jsctl: no payload has b[9], d.e, which --fields names"
    reader.read(Message("s", b'{"d": {"e": false}}', ""))
    assert reader.summarize() == "jsctl: no payload has b[9], which --fields names"


def test_s2_of_servers() -> None:
    assert PayloadDecoder(["s2", "json"]).decode(STREAM_START + build_frame(b"[1]")) == [1]
