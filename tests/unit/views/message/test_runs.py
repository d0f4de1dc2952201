"""What is written of many messages at once is what is written of each."""

import re

from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.command_lines import UNSAFE
from jsctl.jetstream.message.payload import format_payload
from jsctl.jetstream.message.receive import Received
from jsctl.nats.headers import parse_headers
from jsctl.nats.message import Message, Place
from jsctl.render.text import clean, clean_lines
from jsctl.views.message import subscribe as view
from jsctl.views.message.text import bodies, body, header_block_lines, header_lines, heads

lines = st.sampled_from(
    (b"A: 1", b"A:1", b"A:  1", b"A: 1 ", b"A: a: b c", b"A", b"", b": x", b"A: \xff", b"\xc3: 1", b"A: x\ny")
)
blocks = st.lists(lines, max_size=3).map(lambda each: b"\r\n".join((b"NATS/1.0", *each, b"", b"")))
payloads = st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
times = st.sampled_from((1764365789123456789, 1764365789000000000, 999, 0)) | st.integers(10**18, 2 * 10**18)
numbers = st.integers(0, 10**7)


replies = st.builds(
    "$JS.ACK.{}S.c.{}.{}.3.{}.{}".format, st.sampled_from(("", "hub.hash.")), numbers, numbers, times, numbers
)
places = st.just(("S", b"7", b"2026-01-01T00:00:00Z", b"3"))


subjects = st.sampled_from(("s.a", "s.é", "s.\x1b[2J", "s.\x7f"))
shows = st.sampled_from((view.Show(), view.Show(headers_only=True), view.Show(subjects_only=True)))


@given(st.lists(st.tuples(replies | places, blocks | st.just(b""), payloads), max_size=9), subjects, shows)
def test_a_run_is_the_texts_of_its_messages(
    sent: list[tuple[str | Place, bytes, bytes]], subject: str, show: view.Show
) -> None:
    batch = []
    for number, (place, block, payload) in enumerate(sent, 1):
        if isinstance(place, str):
            message = Message(subject, payload, place, block)
        else:
            message = Message(subject, payload, "", block, place)
        batch.append(Received(message, number, subject))
    text = view.text_view(show, reads_stream=True)
    run, is_clean = view.run_view(text, show)(batch)
    assert run == "".join(map(text, batch))
    assert not is_clean or run == clean_lines(run)


@given(blocks)
def test_headers_are_shown_as_they_are_parsed(block: bytes) -> None:
    assert header_block_lines(block) == header_lines(parse_headers(block))


plain_blocks = st.sampled_from(("A: 1", "A: NATS/1.0", "B: a b", "B: \0")).map(
    lambda line: f"NATS/1.0\r\n{line}\r\nC: 2\r\n\r\n".encode()
)
plain_payloads = st.text("ab \t\n\0", max_size=3).map(str.encode)


@given(st.lists(plain_blocks | st.just(b""), max_size=5), st.lists(plain_payloads, max_size=5))
def test_several_are_shown_as_one_by_one(blocks: list[bytes], payloads: list[bytes]) -> None:
    assert heads(blocks)[0] == [header_block_lines(block) + "\n" if block else "" for block in blocks]
    assert bodies(payloads)[0] == [body(payload) for payload in payloads]


@given(st.text())
def test_text_is_cleaned_line_by_line(text: str) -> None:
    assert clean_lines(text) == re.sub(r"[^\n\t]+", lambda match: clean(match[0]), text)
    assert not re.search(UNSAFE, clean_lines(text).replace("\n", "").replace("\t", ""))


@given(st.text(st.characters(max_codepoint=126, exclude_categories=["Cc"], include_characters="\t\n")))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert format_payload(text.encode()) == clean_lines(text) == text
