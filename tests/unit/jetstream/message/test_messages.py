"""Frames, headers, payloads, templates and dumps; the lean parser against any split of what a server says."""

import asyncio
import base64
import io
import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.errors import BadInput
from jsctl.jetstream.message import dump, payload
from jsctl.jetstream.message.schedule import Schedule, format_ttl
from jsctl.nats.acks import Metadata, parse_ack_subject
from jsctl.nats.codec import FrameParser, ProtocolError, encode_publish
from jsctl.nats.direct_get import parse_direct_reply
from jsctl.nats.headers import encode_headers, find_header, parse_headers, parse_status
from jsctl.nats.message import Message
from jsctl.nats.message_template import MessageTemplate
from jsctl.nats.subjects import matches, validate_subject
from jsctl.nats.templates import Moment, compile_template

REPLY = "$JS.ACK.ORDERS.C.2.77.5.1763707025123456789.9"


def test_frames() -> None:
    assert encode_publish("a", b"xy") == b"PUB a 2\r\nxy\r\n"
    assert encode_publish("a", b"xy", "r") == b"PUB a r 2\r\nxy\r\n"
    block = encode_headers([("K", "v"), ("K", "w")])
    assert block == b"NATS/1.0\r\nK: v\r\nK: w\r\n\r\n"
    assert encode_publish("a", b"xy", "", block) == b"HPUB a %d %d\r\n%bxy\r\n" % (
        len(block),
        len(block) + 2,
        block,
    )
    assert parse_headers(block) == [("K", "v"), ("K", "w")]
    assert find_header(block, "K") == "w"


@pytest.mark.parametrize("subject", ["", "a b", "a..b", "a.*", "a.>", "a\r\nPING", ".a"])
def test_subjects_that_would_break_the_line(subject: str) -> None:
    with pytest.raises(BadInput):
        validate_subject(subject)


@pytest.mark.parametrize("pair", [("a b", "x"), ("", "x"), ("K", "a\r\nB: c"), ("K:", "x")])
def test_headers_that_would_break_the_block(pair: tuple[str, str]) -> None:
    with pytest.raises(BadInput):
        encode_headers([pair])


def test_statuses() -> None:
    assert parse_status(b"NATS/1.0 404 No Messages\r\n\r\n") == (404, "No Messages")
    assert parse_status(b"NATS/1.0 503\r\n\r\n") == (503, "")
    assert parse_status(b"NATS/1.0\r\nStatus: 1\r\n\r\n") == (0, "")


def test_ack_subjects_old_and_new() -> None:
    meta = Metadata("ORDERS", 77, 1763707025123456789, "C", 2, 5, 9)
    assert parse_ack_subject(REPLY) == meta
    assert parse_ack_subject(REPLY.replace("ACK.", "ACK.hub.ACCHASH.") + ".token") == meta
    assert parse_ack_subject("_INBOX.x") is None
    assert parse_ack_subject("$JS.ACK.ORDERS.C.x.77.5.1.9") is None


@pytest.mark.parametrize(
    ("pattern", "subject", "wanted"),
    [
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("a", "a", True),
    ],
)
def test_matching(pattern: str, subject: str, wanted: bool) -> None:
    assert matches(pattern, subject) is wanted


def test_a_stored_header_cannot_imitate_the_servers() -> None:
    header = (
        b"NATS/1.0\r\nNats-Sequence: 1\r\nNats-Stream: X\r\nNats-Stream: S\r\nNats-Subject: a.b\r\n"
        b"Nats-Sequence: 42\r\nNats-Time-Stamp: 2026-11-21T06:57:05.5Z\r\nNats-Num-Pending: 3\r\n\r\n"
    )
    parsed = parse_direct_reply(header)
    assert parsed is not None
    item = parsed.to_message(b"x")
    assert item.metadata is not None
    assert (item.subject, item.metadata.stream, item.sequence, item.metadata.pending) == ("a.b", "S", 42, 3)
    assert item.metadata.time % SECOND == SECOND // 2
    assert parse_headers(item.header_block) == [("Nats-Sequence", "1"), ("Nats-Stream", "X")]


def test_payloads() -> None:
    assert payload.format_payload("grüß\n".encode()) == "grüß\n"
    assert payload.as_text(b"\x1b[31mred") == "\x1b[31mred"  # made visible by whoever prints it
    assert payload.as_text(b"a\x00b") is None
    assert payload.as_text(b"\xff") is None
    assert payload.format_payload(b"\x00A" * 8) == "00000000  " + "00 41 " * 7 + "00 41  .A.A.A.A.A.A.A.A"
    assert payload.format_payload(bytes(1000)).endswith("744 bytes more; --raw or --json shows all")


def test_templates() -> None:
    def render(text: str, number: int = 7) -> str:
        return compile_template(text.encode()).render(Moment(number, b"req")).decode()

    assert render("{{Count}} {{ .Cnt }} {{Request}}") == "7 7 req"
    assert abs(int(render("{{Unix}}")) - time.time()) < 5
    assert len(render("{{ID}}")) == 22
    assert render("{{ID}}") != render("{{ID}}")
    assert {len(render("{{ Random 3 5 }}")) for _ in range(200)} == {3, 4, 5}
    assert len(render("{{Random(4, 4)}}")) == 4
    assert render('{{"{{"}}x') == "{{x"
    assert render("no template { }") == "no template { }"
    assert compile_template(b"{{Nope}}", enabled=False).fixed == b"{{Nope}}"
    assert compile_template(b"{{Nope}}").fixed == b"{{Nope}}"
    assert compile_template(b"{{Nope}}").unknown == ("Nope",)
    assert compile_template(b"{{" + b" " * 200_000 + b"{{" * 50_000).fixed  # in linear time
    for wrong in ("{{Random 5 3}}", "{{Random 1 99999999999}}"):
        with pytest.raises(BadInput):
            compile_template(wrong.encode())


def test_a_templated_subject_is_checked() -> None:
    with pytest.raises(BadInput):
        next(MessageTemplate("a.{{Request}}").fill(b""))


def test_schedules() -> None:
    assert Schedule().build_headers(0) == []
    at = Schedule(at="2026-11-21T18:00:00+01:00", dest="d", message_ttl=60 * SECOND)
    assert dict(at.build_headers(0)) == {
        "Nats-Schedule": "@at 2026-11-21T17:00:00Z",
        "Nats-Schedule-Target": "d",
        "Nats-Schedule-TTL": "60s",
    }
    after = Schedule(after=60 * SECOND, dest="d")
    assert dict(after.build_headers(0))["Nats-Schedule"] == "@at 1970-01-01T00:01:00Z"
    every = Schedule(every=90 * SECOND, dest="d")
    assert dict(every.build_headers(0))["Nats-Schedule"] == "@every 90s"
    wrong = [
        Schedule(at="x", dest="d"),
        Schedule(after=0, dest="d"),
        Schedule(dest="d"),
        Schedule(every=SECOND),
        Schedule(every=SECOND, cron="* * * * * *", dest="d"),
    ]
    for schedule in wrong:
        with pytest.raises(BadInput):
            schedule.build_headers(0)
    with pytest.raises(BadInput):
        format_ttl(SECOND // 10)


@given(data=st.binary(), value=st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF)))
def test_a_dump_gives_the_message_back(data: bytes, value: str) -> None:
    header = encode_headers([("K", value.strip()), ("K", "2"), ("L", "")])
    item = Message("a.b", data, REPLY, header, parse_ack_subject(REPLY))
    record = dump.parse_record(json.loads(json.dumps(dump.record(item, 1, 2))))
    assert (record.subject, record.data, record.reply) == ("a.b", data, "")
    assert parse_headers(record.header_block) == parse_headers(header)
    assert record.time == 1763707025123456789


def read_data(path: str, stdin: str = "") -> list[bytes]:
    """The payloads of a dump."""

    async def read() -> list[bytes]:
        groups = [group async for group in dump.read(path, io.StringIO(stdin))]
        return [message.data for group in groups for message in group]

    return asyncio.run(read())


def test_dumps_of_the_nats_tool(tmp_path: Path) -> None:
    def encode(number: int) -> str:
        data = base64.b64encode(b"%d" % number).decode()
        return json.dumps({"Subject": "a", "Reply": "", "Header": {"K": ["v"]}, "Data": data})

    for number in (10, 9, 1):
        (tmp_path / f"{number}.json").write_text(encode(number))
    assert read_data(str(tmp_path)) == [b"1", b"9", b"10"]
    assert read_data("-", encode(1) + "\0" + encode(2) + "\0") == [b"1", b"2"]


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        "{}",
        '{"subject": "a b"}',
        '{"subject": "a", "data_base64": "?"}',
        '{"subject": "a", "headers": {"K": "a\\r\\nb"}}',
        '{"subject": "a", "headers": 7}',
        '{"subject": "a", "time": "soon"}',
        '{"subject": "a", "reply": "zz 0\\r\\n\\r\\nPUB b 1\\r\\nx"}',
        '{"subject": "a", "reply": "a b"}',
        '{"subject": "a", "reply": 7}',
        '{"subject": "a", "reply": ["a b"]}',
        '{"subject": "a\\r\\nPUB b 0"}',
        '{"subject": "a\\u0000"}',
        '{"subject": "a\\ud800"}',
        '{"subject": 7}',
        '{"subject": ["a"]}',
        '{"subject": "a", "data": "\\ud800"}',
        '{"subject": "a", "headers": {"K: v\\r\\nL": "x"}}',
        '{"subject": "a", "headers": {"K": "\\ud800"}}',
        '{"Subject": "a", "Reply": "zz 0\\r\\n\\r\\nPUB b 1\\r\\nx", "Data": ""}',
        '{"Subject": "a b", "Data": ""}',
        '{"Subject": "a", "Header": {"K": ["v\\nw"]}, "Data": ""}',
        "[" * 100_000,
    ],
)
def test_damaged_dumps_name_the_line(line: str) -> None:
    with pytest.raises(BadInput, match="stdin line 2"):
        read_data("-", '{"subject": "a"}\n' + line)


SAID = (
    b"PING\r\nMSG a.b 1 3\r\nxyz\r\nMSG a.b 1 re.ply 2\r\n\r\n\r\n+OK\r\n"
    b"HMSG c 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"
    b"HMSG c 2 r 12 12\r\nNATS/1.0\r\n\r\n\r\nMSG d 2 0\r\n\r\n-ERR 'x'\r\nMSG a 1 6\r\nPONG\r\n"
)


@given(cuts=st.lists(st.integers(0, len(SAID)), max_size=12))
def test_the_parser_takes_any_split(cuts: list[int]) -> None:
    parser = FrameParser()
    edges = [0, *sorted(cuts), len(SAID)]
    chunks = [SAID[start:end] for start, end in itertools.pairwise(edges) if start < end]
    frames = [frame[1:] for chunk in [*chunks, b"\r\n"] for frame in parser.feed(chunk)]
    assert [frame[1:] for frame in frames if frame[0] == b"1"] == [
        (b"a.b", b"", b"", b"xyz"),
        (b"a.b", b"re.ply", b"", b"\r\n"),
        (b"c", b"", b"NATS/1.0\r\n\r\n", b"hi"),
        (b"a", b"", b"", b"PONG\r\n"),
    ]
    assert len([frame for frame in frames if frame[0] == b"2"]) == 2
    assert [frame[-1] for frame in frames if not frame[0]] == [b"PING\r\n", b"+OK\r\n", b"-ERR 'x'\r\n"]


LARGE = b"".join(
    b"MSG s 1 %b%d\r\n%b\r\nHMSG t 1 22 %d\r\nNATS/1.0\r\nA: %05d\r\n\r\n%b\r\n"
    % (b"re.ply " * (n % 2), n, b"\r\n" * (n // 2), n + 22, n, b"MSG x 1 3" * (n // 9) + b"!" * (n % 9))
    for n in (40_000, 10, 70_002, 32_768)
)


@settings(max_examples=100)
@given(cuts=st.lists(st.integers(0, len(LARGE)), max_size=8), near=st.lists(st.integers(-30, 30), max_size=4))
def test_large_messages_are_the_same_however_they_are_split(cuts: list[int], near: list[int]) -> None:
    whole = [frame[1:] for frame in FrameParser().feed(LARGE)]
    assert [len(frame[-1]) for frame in whole] == [40_000, 40_000, 10, 10, 70_002, 70_002, 32_768, 32_768]
    ends = [frame[0] for frame in FrameParser().feed(LARGE)]
    edges = sorted(
        {0, len(LARGE), *cuts, *(end + at for end, at in zip(ends, near, strict=False) if end + at > 0)}
    )
    parser = FrameParser()
    chunks = [LARGE[start:end] for start, end in itertools.pairwise(edges) if end <= len(LARGE)]
    assert [frame[1:] for chunk in chunks for frame in parser.feed(chunk)] == whole
    assert parser.is_empty


def test_a_large_message_that_does_not_end_where_it_should() -> None:
    parser = FrameParser()
    assert not list(parser.feed(b"MSG s 1 40000\r\n" + b"x" * 39_000))
    with pytest.raises(ProtocolError, match="does not end"):
        list(parser.feed(b"x" * 1_010))
