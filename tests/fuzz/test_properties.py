"""Hypothesis against every parser: whatever comes is taken, or refused in one line.

What hypothesis finds, it makes small; the mutated seeds of the other files come further into each parser.
"""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsctl.errors import JsctlError
from jsctl.jetstream.api import parse_response
from jsctl.jetstream.backup.s2 import FrameScanner, decompress_block
from jsctl.nats.acks import parse_ack_subject
from jsctl.nats.codec import FrameParser, check_info, parse_error
from jsctl.nats.headers import parse_headers, parse_status
from tests.fuzz.record import Record, cases
from tests.fuzz.test_inputs import SEEDS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    [
        "config",
        "state",
        "streams",
        "consumers",
        "cluster",
        "error",
        "total",
        "name",
        "seq",
        "message",
        "stream",
    ]
)
ANSWERS = st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=4), max_size=5)
LINES = st.lists(
    st.sampled_from(
        [b"MSG", b"HMSG", b"PING", b"INFO", b"-ERR", b" ", b"\r\n", b"1", b"-1", b"a.b", b"99", b"{}"]
    )
    | st.binary(max_size=6),
    max_size=24,
).map(b"".join)

BYTES: dict[str, Callable[[bytes], Any]] = {
    "frames": lambda data: list(FrameParser().feed(data)),
    "errors": parse_error,
    "headers": parse_headers,
    "statuses": parse_status,
    "blocks": decompress_block,
    "block frames": lambda data: FrameScanner().feed(data),
}
quick = settings(
    max_examples=cases(100),
    derandomize="JSCTL_FUZZ" not in os.environ,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def check(name: str, parse: Callable[[Any], Any], values: st.SearchStrategy[Any]) -> None:
    """Parse what hypothesis makes up."""
    with Record(f"hypothesis: {name}") as record:

        @quick
        @given(values)
        def one(value: Any) -> None:
            record.tried(lambda: parse(value))

        one()


@pytest.mark.parametrize("name", BYTES)
def test_bytes(name: str) -> None:
    check(name, BYTES[name], LINES | st.binary(max_size=200))


@pytest.mark.parametrize("name", SEEDS)
def test_texts(name: str) -> None:
    parse, seed = SEEDS[name]
    pieces = st.sampled_from(
        [*seed.split(" "), *seed[::7], "{{", "}}", "-", "9" * 20, "\n", ": ", "&a", "*a"]
    )
    check(name, parse, st.text(max_size=40) | st.lists(pieces, max_size=12).map(" ".join))


@pytest.mark.slow
def test_answers() -> None:
    def parse(value: Any) -> None:
        parse_response(json.dumps(value).encode(), "$JS.API.STREAM.INFO.S")

    check("answers", parse, ANSWERS | JSON)


def test_infos() -> None:
    keys = st.sampled_from(["max_payload", "version", "nonce", "connect_urls", "tls_required", "headers"])
    check("INFO", check_info, st.dictionaries(keys, JSON, max_size=4) | JSON)


def test_ack_subjects() -> None:
    tokens = st.lists(st.sampled_from(["$JS", "ACK", "S", "C", "1", "-1", "9" * 30, "", "x"]), max_size=12)
    check("ack subjects", parse_ack_subject, tokens.map(".".join))


def test_record_finds_what_is_wrong() -> None:
    """The check itself: an error without a text of its own, and too much memory, are found."""
    missing: dict[str, int] = {}
    for wrong in (lambda: missing["key"], lambda: bytearray(1 << 30)):
        with pytest.raises(AssertionError), Record("none") as record:
            record.tried(wrong)
    with Record("refusals") as record:
        record.tried(lambda: (_ for _ in ()).throw(JsctlError("said")))
    assert record.outcomes == {"refused": 1}
