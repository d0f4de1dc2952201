"""What is written of many messages at once is what is written of each."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.command_lines import UNSAFE
from jsctl.jetstream.message.payload import format_payload
from jsctl.jetstream.message.receive import ReceivedRun
from jsctl.nats.delivery_reader import Deliveries
from jsctl.nats.headers import parse_headers
from jsctl.nats.message import Message
from jsctl.render.text import clean, clean_lines
from jsctl.views.message import subscribe as view
from jsctl.views.message.text import bodies, body, header_block_lines, header_lines, heads

lines = st.sampled_from(
    (b"A: 1", b"A:1", b"A:  1", b"A: 1 ", b"A: a: b c", b"A", b"", b": x", b"A: \xff", b"\xc3: 1", b"A: x\ny")
)
blocks = st.lists(lines, max_size=3).map(lambda each: b"\r\n".join((b"NATS/1.0", *each, b"", b"")))
payloads = st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
times = st.sampled_from((1764365789123456789, 1764365789000000000)) | st.integers(10**18, 2 * 10**18)
numbers = st.integers(0, 10**7)
subjects = st.sampled_from((*(b"s.a",) * 8, b"s.\xc3\xa9", b"s.\x1b[2J", b"s.\x7f"))
consumers = st.sampled_from((b"$JS.ACK.S.c.1", b"$JS.ACK.hub.hash.S%d.c.1", "$JS.ACK.Sé.c.1".encode()))


@st.composite
def deliveries(draw: st.DrawFn) -> Deliveries:
    consumer, rows = draw(consumers), []
    for _ in range(draw(st.integers(1, 9))):
        sequence, time, pending = (b"%d" % draw(each) for each in (numbers, times, numbers))
        reply = b"%b.%b.3.%b.%b" % (consumer, sequence, time, pending)
        content = draw(blocks | st.just(b"")), draw(payloads | st.just(b"plain"))
        rows.append((draw(subjects), reply, sequence, time, pending, *content))
    return Deliveries(rows)


places = st.just(("S", b"7", b"2026-01-01T00:00:00Z", b"3"))
stored = st.builds(Message, st.just("s.a"), payloads, st.just(""), blocks | st.just(b""), places)
shows = st.sampled_from((view.Show(), view.Show(headers_only=True), view.Show(subjects_only=True)))


@given(deliveries() | st.lists(stored, min_size=1), st.integers(1, 10**6), shows)
def test_a_run_is_the_texts_of_its_messages(
    messages: Sequence[Message], number: int, show: view.Show
) -> None:
    batch = ReceivedRun(messages, number)
    text = view.text_view(show, reads_stream=True)
    shown, singly = view.run_view(text, show)(batch), "".join(map(text, batch))
    if isinstance(shown, bytes):
        shown = shown.decode()
        assert shown == clean_lines(shown)
    assert shown == singly


@given(deliveries(), st.integers(1, 100), st.integers(0, 9), st.integers(0, 9))
def test_parts_of_a_run_are_its_messages(messages: Deliveries, number: int, start: int, stop: int) -> None:
    run = ReceivedRun(messages, number)
    expected = list(ReceivedRun(list(messages), number))
    assert list(run) == [run[at] for at in range(len(run))] == expected
    assert list(run[start:stop]) == expected[start:stop]
    assert [each.number for each in run[start:]] == list(range(number + start, number + len(run)))
    assert run.data_size == sum(len(each.message.data) for each in expected)


@given(blocks)
def test_headers_are_shown_as_they_are_parsed(block: bytes) -> None:
    assert header_block_lines(block) == header_lines(parse_headers(block))


plain_blocks = st.sampled_from(("A: 1", "A: NATS/1.0", "B: a b", "B: \0")).map(
    lambda line: f"NATS/1.0\r\n{line}\r\nC: 2\r\n\r\n".encode()
)
plain_payloads = st.text("ab \t\n\0é", max_size=3).map(str.encode) | st.sampled_from((b"\xc3", b"\xa9"))


@given(st.lists(plain_blocks | st.just(b""), max_size=5), st.lists(plain_payloads, max_size=5))
def test_several_are_shown_as_one_by_one(blocks: list[bytes], payloads: list[bytes]) -> None:
    texts = [header_block_lines(block) + "\n" if block else "" for block in blocks]
    assert heads(blocks)[0] == [text.encode() for text in texts]
    shown, are_clean = bodies(payloads)
    assert shown == [body(payload).encode() for payload in payloads]
    assert not are_clean or all(clean_lines(each.decode()) == each.decode() for each in shown)


@given(st.text())
def test_text_is_cleaned_line_by_line(text: str) -> None:
    assert clean_lines(text) == re.sub(r"[^\n\t]+", lambda match: clean(match[0]), text)
    assert not re.search(UNSAFE, clean_lines(text).replace("\n", "").replace("\t", ""))


@given(st.text(st.characters(max_codepoint=126, exclude_categories=["Cc"], include_characters="\t\n")))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert format_payload(text.encode()) == clean_lines(text) == text
