"""Messages to publish, composed of a subject, headers and a body: from templates, from stdin, from a dump."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import NamedTuple, TextIO

from jsctl.base.loops import sleep
from jsctl.base.units import SECOND
from jsctl.errors import BadInput
from jsctl.jetstream.message.stdin import Stdin
from jsctl.nats.codec import encode_text
from jsctl.nats.headers import encode_headers, parse_header_text, parse_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.nats.templates import Moment, Template, compile_template, warn_of_unknown_functions

_BURST = 256  #: messages that are composed before they are sent


class Draft(NamedTuple):
    """The templates that messages are composed from."""

    subject: Template
    body: Template
    headers: Sequence[tuple[str, Template]] = ()
    reply: str = ""

    @property
    def is_fixed(self) -> bool:
        """Whether all messages are the same."""
        templates = (self.subject, self.body, *(value for _, value in self.headers))
        return all(template.fixed is not None for template in templates)

    def compose(self, moment: Moment) -> OutgoingMessage:
        """Return the message for a moment. Raises BadInput when templates produce an invalid subject."""
        subject = self.subject.render(moment).decode(errors="replace")
        if self.subject.fixed is None:
            validate_subject(subject)
        headers = [(name, value.render(moment).decode(errors="replace")) for name, value in self.headers]
        header_block = encode_headers(headers) if headers else b""
        return OutgoingMessage(subject, self.body.render(moment), self.reply, header_block)

    def compose_many(self, first: int, count: int) -> Iterator[OutgoingMessage]:
        """Yield `count` messages, numbered from `first`."""
        if self.is_fixed:
            yield from repeat(self.compose(Moment(first)), count)
            return
        for number in range(first, first + count):
            yield self.compose(Moment(number))


def compile_headers(headers: Sequence[str]) -> list[tuple[str, Template]]:
    """Compile `K:V` texts into names and templates. Raises BadInput."""
    compiled = []
    for text in headers:
        name, value = parse_header_text(text)
        encode_headers([(name, "")])
        compiled.append((name, compile_template(encode_text(value))))
    return compiled


@dataclass(frozen=True, slots=True)
class Composition:
    """The parts that messages are composed of.

    body: bytes, or stdin. headers: `K:V`, whose values are templates. fixed_headers: sent as they
    are, in place of all headers of the same name. count: number of messages; with by_line, of each line.
    by_line: each line of stdin is a body. templates: whether templates in subject and body are filled in.
    """

    subject: str
    body: bytes | Stdin = b""
    headers: Sequence[str] = ()
    fixed_headers: Sequence[tuple[str, str]] = ()
    reply: str = ""
    count: int = 1
    by_line: bool = False
    templates: bool = True

    @property
    def replaced_headers(self) -> set[str]:
        """The names of fixed headers, in lower case."""
        return {name.lower() for name, _ in self.fixed_headers}

    def compile_draft(self) -> Draft:
        """Return the draft of all messages, without their body. Raises BadInput."""
        replaced = self.replaced_headers
        headers = [
            (name, value) for name, value in compile_headers(self.headers) if name.lower() not in replaced
        ]
        fixed = [(name, Template([encode_text(value)])) for name, value in self.fixed_headers]
        draft = Draft(
            compile_template(encode_text(self.subject), enabled=self.templates),
            compile_template(b""),
            [*headers, *fixed],
            self.reply,
        )
        if draft.subject.unknown:
            raise BadInput(
                f"{{{{{draft.subject.unknown[0]}}}}} in the subject is not a template function",
                "--no-templates sends the subject as it is",
            )
        if draft.subject.fixed is not None:
            validate_subject(self.subject)
        if self.reply:
            validate_subject(self.reply, "reply on")
        return draft


async def compose(
    composition: Composition, *, warn: Callable[[str], None], burst: int = _BURST
) -> AsyncGenerator[Sequence[OutgoingMessage], None]:
    """Yield the messages in bursts of at most `burst`. Raises BadInput.

    warn: called with a sentence about templates that are sent as they are, once for each.
    """
    draft = composition.compile_draft()
    warnings = _Warnings(warn)
    warnings.check([value for _, value in draft.headers])
    body = composition.body
    if isinstance(body, bytes) or not composition.by_line:
        if not isinstance(body, bytes):
            body = await body.read_all()
        draft = draft._replace(body=compile_template(body, enabled=composition.templates))
        warnings.check([draft.body])
        for messages in _split_bursts(draft.compose_many(1, composition.count), burst):
            yield messages
        return
    first, count = 1, composition.count
    async for lines in body.read_lines():
        numbered = zip(range(first, first + count * len(lines), count), lines, strict=True)
        for messages in _split_bursts(_compose_lines(draft, numbered, composition, warnings), burst):
            yield messages
        first += count * len(lines)


class _Warnings:
    """Warnings about templates that are sent as they are, once for each, as many lines may hold the same."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._last = ""

    def check(self, templates: Sequence[Template]) -> None:
        warning = warn_of_unknown_functions(templates)
        if warning and warning != self._last:
            self._last = warning
            self._warn(warning)


def _compose_lines(
    draft: Draft, lines: Iterable[tuple[int, bytes]], composition: Composition, warnings: "_Warnings"
) -> Iterator[OutgoingMessage]:
    """Compose the messages of lines. lines: each with the number of its first message."""
    for first, line in lines:
        body = compile_template(line, enabled=composition.templates)
        warnings.check([body])
        yield from draft._replace(body=body).compose_many(first, composition.count)


async def read_dump(
    path: str, stdin: TextIO, composition: Composition, *, burst: int = _BURST
) -> AsyncGenerator[Sequence[OutgoingMessage], None]:
    """Yield the messages of a dump (`-` is stdin) in bursts of at most `burst`, with the subject of the
    composition if it has one, and with its headers added. Raises BadInput."""
    from jsctl.jetstream.message import dump

    draft = replace(composition, subject=composition.subject or "unused").compile_draft()
    replaced = composition.replaced_headers

    def change(numbered: Iterable[tuple[int, OutgoingMessage]]) -> Iterator[OutgoingMessage]:
        for number, message in numbered:
            moment = Moment(number)
            headers = [(name, value.render(moment).decode()) for name, value in draft.headers]
            changed = message
            if headers:
                pairs = parse_headers(message.header_block)
                other_headers = [pair for pair in pairs if pair[0].lower() not in replaced]
                block = encode_headers([*other_headers, *headers])
                changed = changed._replace(header_block=block)
            if composition.subject:
                subject = draft.subject.render(moment).decode(errors="replace")
                changed = changed._replace(subject=validate_subject(subject))
            yield changed

    count = 0
    async for messages in dump.read(path, stdin):
        for burst_messages in _split_bursts(change(enumerate(messages, count + 1)), burst):
            yield burst_messages
        count += len(messages)


async def space_evenly(
    bursts: AsyncIterator[Sequence[OutgoingMessage]], interval: int
) -> AsyncGenerator[Sequence[OutgoingMessage], None]:
    """Yield the messages one at a time, `interval` ns apart."""
    is_first = True
    async for burst in bursts:
        for message in burst:
            if not is_first:
                await sleep(interval / SECOND)
            is_first = False
            yield [message]


async def keep_original_pace(
    bursts: AsyncIterator[Sequence[OutgoingMessage]],
) -> AsyncGenerator[Sequence[OutgoingMessage], None]:
    """Yield the messages of a dump one at a time, as far apart as they were first published."""
    started, first = time.monotonic_ns(), 0
    async for burst in bursts:
        for message in burst:
            first = first or message.time
            delay = message.time - first - (time.monotonic_ns() - started)
            if message.time and delay > 0:
                await sleep(delay / SECOND)
            yield [message]


def _split_bursts(messages: Iterator[OutgoingMessage], size: int) -> Iterator[Sequence[OutgoingMessage]]:
    while burst := list(islice(messages, size)):
        yield burst
