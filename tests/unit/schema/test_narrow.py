"""Messages without the text that a condition looks for are left out before it is evaluated: with no other
result."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.find.expression import compile_expression
from jsctl.nats.message import Message
from jsctl.schema.payloads.decoder import PayloadDecoder
from jsctl.schema.payloads.reader import Reader
from jsctl.views.message.decoded import MESSAGES, decode_all

texts = st.sampled_from(("a", "eu", "é", "\ufffd", "x or y", "\udcff", "a\\\\b", "n", ""))
names = st.sampled_from(
    (
        "subject",
        "text",
        "headers.A",
        'headers["A"]',
        "headers['B-C']",
        "headers",
        "subject.a",
        "text.a",
        "size",
        "n",
    )
)
operators = st.sampled_from(("==", "!=", " contains ", " startsWith ", " endsWith ", " matches ", " <  "))
quotes = st.sampled_from(("'", '"'))
comparisons = st.tuples(names, operators, quotes, texts).map(
    lambda one: f"{one[0]}{one[1]}{one[2]}{one[3]}{one[2]}"
)
joins = st.sampled_from((" and ", " or ", "&&", "||", " and not ", " == "))
conditions = (
    comparisons | st.tuples(comparisons, joins, comparisons).map("".join) | comparisons.map("not {}".format)
)
values = st.sampled_from((b"a", b"eu", b"\xff", "é".encode(), b"a\\b", b"x or y", b'{"n": "a"}', b" eu"))
blocks = st.tuples(st.sampled_from((b"A", b"B-C", b"\xff")), values).map(
    lambda one: b"NATS/1.0\r\n%b: %b\r\n\r\n" % one
)
messages = st.builds(Message, st.sampled_from(("a", "s.eu", "é", "s.\ufffd")), values, st.just(""), blocks)


@given(conditions, st.lists(messages, max_size=6))
def test_nothing_else_is_left_out(text: str, sent: list[Message]) -> None:
    condition = compile_expression(text)
    reader, plain = (Reader(PayloadDecoder(["json"]), shows=False, condition=condition) for _ in range(2))
    chosen = [seen.event for seen in asyncio.run(decode_all(sent, reader, MESSAGES))]
    assert chosen == [message for message in sent if plain.read(message)]
    assert reader.summarize() == plain.summarize()


def test_texts_are_found() -> None:
    reader = Reader(PayloadDecoder(["json"]), shows=False, condition=compile_expression("headers.A == 'eu'"))
    sent = [Message("a", b"", "", b"NATS/1.0\r\nA: %b\r\n\r\n" % value) for value in (b"eu", b"us", b"euro")]
    assert reader.narrow(sent, MESSAGES.find) == [sent[0], sent[2]]
