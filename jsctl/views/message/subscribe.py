"""Received messages: `subscribe`, `consumer sub`."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.base import units
from jsctl.jetstream.message import dump
from jsctl.jetstream.message.dump_writer import build_nats_record
from jsctl.jetstream.message.receive import Received, ReceivedRun, Receiver, Statistics
from jsctl.nats.message import Message
from jsctl.views.events import End, Ending, Events, Presentation
from jsctl.views.message.decoded import Lens
from jsctl.views.message.text import bodies, content, heads, is_clean, raw_bytes, raw_line


@dataclass(frozen=True, slots=True)
class Show:
    """What is shown of a message. raw_bytes: as `raw`, without line ends between payloads. delta: the time
    since the start instead of the message's own.
    """

    raw: bool = False
    raw_bytes: bool = False
    pretty: bool = False
    headers_only: bool = False
    subjects_only: bool = False
    timestamp: bool = False
    delta: bool = False

    @property
    def is_raw(self) -> bool:
        """Whether only payloads are shown."""
        return self.raw or self.raw_bytes


LENS: Lens[Received] = Lens(
    lambda received: received.message,
    lambda received, data: received._replace(message=received.message.with_data(data)),
)
"""A matched reply stays as it is."""


def events(
    receiver: Receiver, batches: AsyncGenerator[Sequence[Received], None], show: Show
) -> Events[Received]:
    """Return the messages of a receiver, each with its views, and the summary at the end."""
    options = receiver.options
    text = raw_text_view(show) if show.is_raw else text_view(show, reads_stream=options.stream is not None)
    return Events(
        batches=batches,
        shown=Presentation(
            text=text,
            run=run_view(text, show) if options.stream and show in _RUNS else None,
            record=record,
            folds="" if show.is_raw else "first",
            raw=raw_view(exact=show.raw_bytes) if show.is_raw else None,
            awaits_reader=bool(options.ack or (options.stream and options.stream.durable)),
        ),
        end=End(limit=options.limit, endless=True, stop=receiver.stop),
        stalled=receiver.record_stall,
        summary=lambda ending: summary(receiver.statistics, ending),
    )


def text_view(show: Show, *, reads_stream: bool) -> Callable[[Received], str]:
    """Return the view for people. reads_stream: the messages come from a stream, not from a subscription."""
    started = time.monotonic()

    def stamp(message: Message) -> str:
        if show.delta:
            return f" @ {time.monotonic() - started:.6f}s"
        metadata = message.metadata
        return f" @ {units.format_time_us(metadata.time if metadata else time.time_ns())}"

    has_stamp, has_body = show.timestamp or show.delta, not show.subjects_only
    headers_only, pretty = show.headers_only, show.pretty

    def text(received: Received) -> str:
        message, number, _, reply = received
        time_note = stamp(message) if has_stamp else ""
        output = heading(number, message, time_note, reads_stream=reads_stream)
        if has_body:
            output += content(message, headers_only=headers_only, pretty=pretty)
        if reply is not None:
            output += f'[#{number}]{time_note} Matched reply on "{reply.subject}"\n'
            if has_body:
                output += content(reply, headers_only=headers_only, pretty=pretty)
        return output

    return text


_RUNS = (Show(), Show(headers_only=True), Show(subjects_only=True))
"""What `run_view` shows."""


class _Thousands(dict[bytes, bytes]):
    """What stands before the last three digits of a number, by the digits there: b"1,234," for b"1234"."""

    def __missing__(self, digits: bytes) -> bytes:
        self.clear()  # the numbers of a stream follow each other
        self[digits] = text = b"%b," % f"{int(digits):,}".encode() if digits else b""
        return text


def run_view(
    text: Callable[[Received], str], show: Show = _RUNS[0]
) -> Callable[[Sequence[Received]], bytes | str]:
    """Return `text` for messages of a stream that follow each other (see `Presentation.run`), in a quarter of
    its time where they come from a consumer: as bytes, from their rows."""
    sequences, counts = _Thousands(), _Thousands()
    has_heads, has_bodies = not show.subjects_only, show == _RUNS[0]
    end = b"%b\n\n" if has_bodies else b"%b"

    def run(batch: Sequence[Received]) -> bytes | str:
        rows = batch.rows if isinstance(batch, ReceivedRun) else []
        first = batch[0]
        metadata = first.message.metadata
        if not rows or metadata is None:
            return "".join(map(text, batch))
        subjects, _, numbers, times, pending, blocks, payloads = zip(*rows, strict=True)
        if not (are_clean := is_clean(subjects) and metadata.stream.isprintable()):
            subjects = tuple(each.message.subject.encode() for each in batch)
        nothing = [b""] * len(rows), True
        shown_heads, are_plain = heads(blocks) if has_heads else nothing
        shown_bodies, are_text = bodies(payloads) if has_bodies else nothing
        stream, second, line = metadata.stream.encode().replace(b"%", b"%%"), b"", b""
        columns = subjects, numbers, times, pending, shown_heads, shown_bodies
        texts: list[bytes] = []
        for number, (subject, sequence, stored, left, head, body) in enumerate(
            zip(*columns, strict=True), first.number
        ):
            if stored[:-9] != second:
                second = stored[:-9]
                stamp = units.format_time_us(int(second) * units.SECOND).encode().replace(b"000000", b"%b")
                line = b"[#%d] Received JetStream message: stream: " + stream + b" seq: %b%b / pending: %b%b"
                line += b" / subject: %b / time: " + stamp + b"\n%b" + end
            texts.append(
                line
                % (
                    number,
                    sequences[sequence[:-3]],
                    sequence[-3:],
                    counts[left[:-3]],
                    left[-3:],
                    subject,
                    stored[-9:-3],
                    head,
                    body,
                )
            )
        shown = b"".join(texts)
        return shown if are_clean and are_plain and are_text else str(shown, "utf-8", "surrogateescape")

    return run


def heading(number: int, message: Message, stamp: str = "", *, reads_stream: bool) -> str:
    """Return the line above a message: `[#1] Received on "orders.new"`.

    For a message of a stream it has the sequence, the number of pending messages and the time; for one of a
    push consumer that was received by subscribing, that consumer's numbers.
    """
    metadata = message.metadata
    if metadata is None:
        reply = f' with reply "{message.reply}"' if message.reply else ""
        return f'[#{number}]{stamp} Received on "{message.subject}"{reply}\n'
    stream, sequence, stored_at, consumer, delivered, consumer_sequence, pending = metadata
    if reads_stream:
        time = stored_at if isinstance(stored_at, int) else metadata.time
        return (
            f"[#{number}]{stamp} Received JetStream message: stream: {stream}"
            f" seq: {sequence:,} / pending: {pending:,} / subject: {message.subject}"
            f" / time: {units.format_time_us(time)}\n"
        )
    return (
        f"[#{number}]{stamp} Received JetStream message: consumer: {stream} > {consumer}"
        f" / subject: {message.subject} / delivered: {delivered}"
        f" / consumer seq: {consumer_sequence:,} / stream seq: {sequence:,}\n"
    )


def raw_text_view(show: Show) -> Callable[[Received], str]:
    """Return the view of `--raw` on a terminal."""

    def text(received: Received) -> str:
        shown = raw_line(received.message.data, pretty=show.pretty)
        return shown + raw_line(received.reply.data, pretty=show.pretty) if received.reply else shown

    return text


def raw_view(*, exact: bool) -> Callable[[Received], bytes]:
    """Return the view of `--raw` in a pipe. exact: with no line end added."""

    def raw(received: Received) -> bytes:
        data, reply = received[0].data, received[3]
        if reply is None:
            return data if exact or data.endswith(b"\n") else data + b"\n"
        return raw_bytes(data, exact) + raw_bytes(reply.data, exact)

    return raw


def record(received: Received) -> Any:
    """Return the message as a dump has it; with a matched reply, both."""
    message, number, _, reply = received
    now = time.time_ns()
    if reply is None:
        return dump.record(message, number, now)
    return dump.record(message, number, now), dump.record(reply, number, now)


def dumped_record(received: Received) -> Any:
    """Return the message as `--dump -` writes it."""
    record = build_nats_record(received.message)
    return record if received.reply is None else (record, build_nats_record(received.reply))


def summary(statistics: Statistics, ending: Ending) -> str:
    """Return a line about what was received, after ctrl-C or when something went wrong meanwhile."""
    counts = [
        (statistics.disconnections, "connection lost"),
        (statistics.reconnections, "connected again"),
        (statistics.slow, "slow consumer"),
        (statistics.restarts, "reading started again"),
    ]
    problems = [f"{noun} {units.pluralize(count, 'time')}" for count, noun in counts if count]
    if ending != "interrupted" and not problems:
        return ""
    duration = units.format_duration(time.monotonic_ns() - statistics.started)
    messages = units.pluralize(statistics.messages, "message")
    return "; ".join(
        [f"Received {messages}, {units.format_bytes(statistics.bytes)} in {duration}", *problems]
    )
