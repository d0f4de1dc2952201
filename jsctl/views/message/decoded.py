"""Events whose payloads are decoded and chosen: for all verbs that show messages or values."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from jsctl.base.loops import run_abandonable
from jsctl.nats.message import Message
from jsctl.views.events import Ending, Events, close_after

if TYPE_CHECKING:
    from jsctl.schema.payloads.reader import Decoded, Reader

E = TypeVar("E")


class Seen(NamedTuple, Generic[E]):
    """An event, and what a reader made of its payload; None for an event without one.

    shown: the event with its payload decoded, if that is what is shown.
    """

    event: E
    shown: E
    decoded: "Decoded | None"


class Lens(NamedTuple, Generic[E]):
    """Where an event has its message: `find` returns it, None for none; `replace` returns the event with
    another payload."""

    find: Callable[[E], Message | None]
    replace: Callable[[E, bytes], E]


MESSAGES: Lens[Message] = Lens(lambda message: message, Message.with_data)


def decode_events(events: Events[Any], reader: "Reader | None", lens: Lens[Any]) -> Events[Any]:
    """Return the events that match, with their payloads decoded in each view; JSON has the payload as it is,
    and beside it `decoded`, or `decode_error` with the reason. Without a reader, the events themselves.
    """
    if reader is None:
        return events
    shown, end, meter = events.shown, events.end, events.meter
    counts, summary = end.counts, events.summary

    def text(seen: Seen[Any]) -> str:
        text = shown.text(seen.shown)
        reason = seen.decoded.reason if seen.decoded and seen.decoded.is_shown and shown.raw is None else ""
        return f"{text}Not decoded: {reason}\n\n" if reason else text

    def record(seen: Seen[Any]) -> object:
        return add_decoded(shown.record(seen.event), seen.decoded)

    def summarize(ending: Ending) -> str:
        return "\n".join(filter(None, (summary(ending), reader.summarize())))

    raw, notice, snapshot = shown.raw, shown.notice, shown.snapshot
    return events._replace(
        batches=read_batches(events.batches, reader, lens),
        shown=shown._replace(
            text=text,
            run=None,
            record=record,
            raw=raw and (lambda seen: raw(seen.shown)),
            notice=notice and (lambda seen: notice(seen.event)),
            snapshot=snapshot and (lambda seen: snapshot(seen.event)),
        ),
        end=end._replace(counts=counts and (lambda seen: counts(seen.event))),
        meter=meter and meter._replace(add=lambda batch: meter.add([seen.event for seen in batch])),
        summary=summarize,
    )


def add_decoded(record: object, decoded: "Decoded | None") -> object:
    """Return a record with what its payload is decoded."""
    if decoded is None or not decoded.is_shown or not isinstance(record, dict):
        return record
    if decoded.reason:
        return {**record, "decode_error": decoded.reason}
    value = decoded.value
    return {**record, "decoded": value.decode(errors="replace") if isinstance(value, bytes) else value}


async def read_batches(
    batches: AsyncIterator[Sequence[E]], reader: "Reader", lens: Lens[E]
) -> AsyncGenerator[Sequence[Seen[E]], None]:
    """Yield what matches of each batch, decoded; nothing of one in which nothing does."""
    async with close_after(batches):
        async for batch in batches:
            if seen := await decode_all(batch, reader, lens):
                yield seen


async def decode_all(events: Sequence[E], reader: "Reader | None", lens: Lens[E]) -> Sequence[Seen[E]]:
    """Return what matches of some events, decoded. Raises what `Reader.read` raises."""
    if reader is None:
        return [Seen(event, event, None) for event in events]
    if not reader.can_wait:
        return _decode(events, reader, lens)
    return await run_abandonable(_decode, events, reader, lens)  # others go on while a registry answers


def _decode(events: Sequence[E], reader: "Reader", lens: Lens[E]) -> list[Seen[E]]:
    seen = []
    for event in reader.narrow(events, lens.find):
        message = lens.find(event)
        if message is None and reader.chooses:
            continue
        if message is None:
            seen.append(Seen(event, event, None))
        elif decoded := reader.read(message):
            is_changed = decoded.is_shown and not decoded.reason
            seen.append(Seen(event, lens.replace(event, decoded.data) if is_changed else event, decoded))
    return seen
