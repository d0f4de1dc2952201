"""Which messages of a stream are published again: a set that is frozen before the first of them is."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.base.units import to_ns
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup import archive
from jsctl.jetstream.backup.edit_options import EditOptions
from jsctl.jetstream.message import browse
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches

COUNT = "Jsctl-Redrive-Count"
"""The header that says how often a message was published again, until now."""

_FORMS = 'write one number per line, or JSON with a "sequence"'


class Chosen(NamedTuple):
    """A message to publish again. redrives: how often it was before. bytes: of headers and payload."""

    sequence: int
    subject: str
    redrives: int
    bytes: int


class Choice(NamedTuple):
    """What chooses messages; each of these holds for all of them.

    sequences: those of dead letters or a file; None for all of the stream. filters: by subject, time,
    sequence, header and payload. matches: says whether a message does; None for all. limit: only the first so
    many; 0 for all.
    """

    sequences: Sequence[int] | None
    filters: EditOptions
    matches: Callable[[Message], bool] | None = None
    limit: int = 0


class Frozen(NamedTuple):
    """The messages that were chosen. gone: those of the sequences that the stream does not hold."""

    messages: Sequence[Chosen]
    gone: int = 0


async def choose_messages(api: Api, info: Json, choice: Choice) -> Frozen:
    """Choose among the messages that a stream holds now. info: the stream's."""
    chosen: list[Chosen] = []
    gone = 0
    async with aclosing(_read(api, info, choice)) as messages:
        async for message in messages:
            if message is None:
                gone += 1
            elif _is_chosen(message, choice):
                redrives = count_redrives(message)
                chosen.append(Chosen(message.sequence, message.subject, redrives, message.size))
                if len(chosen) == choice.limit:
                    break
    return Frozen(chosen, gone)


async def _read(api: Api, info: Json, choice: Choice) -> AsyncGenerator[Message | None, None]:
    name, state, filters = str(info["config"]["name"]), info["state"], choice.filters
    if choice.sequences is not None:
        async for _, message in browse.fetch_each(api, name, sorted(set(choice.sequences))):
            yield message
        return
    first = max(filters.first_seq or 1, int(state["first_seq"]))
    last = (
        int(state["last_seq"]) if filters.last_seq is None else min(filters.last_seq, int(state["last_seq"]))
    )
    subject = filters.subject[0] if len(filters.subject) == 1 else ""
    bulk = bool(info["config"].get("allow_direct"))
    async with aclosing(
        browse.read(api, name, start=first, subject=subject, last=last, bulk=bulk)
    ) as messages:
        async for message in messages:
            yield message


def _is_chosen(message: Message, choice: Choice) -> bool:
    filters, time = choice.filters, to_ns(message.timestamp)
    if not (
        (filters.first_seq or 0) <= message.sequence
        and (filters.last_seq is None or message.sequence <= filters.last_seq)
        and (filters.after is None or filters.after <= time)
        and (filters.before is None or time < filters.before)
        and (not filters.subject or any(matches(each, message.subject) for each in filters.subject))
    ):
        return False
    subject = message.subject.encode()
    entry = archive.Message(subject, message.sequence, time, message.header_block, message.data, b"")
    if filters.find_drop(entry) is not None:
        return False
    return choice.matches is None or choice.matches(message)


def count_redrives(message: Message) -> int:
    """Return how often a message was published again, as its header says."""
    text = find_header(message.header_block, COUNT) if message.header_block else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def parse_sequences(text: str, name: str) -> list[int]:
    """Parse a JSON list, or lines, of sequences: numbers, or objects that have it as `sequence`. Raises
    BadInput."""
    sequences = []
    for place, value in _read_values(text, name):
        sequence = value.get("sequence") if isinstance(value, dict) else value
        if not isinstance(sequence, int) or isinstance(sequence, bool) or not 0 < sequence < 1 << 64:
            raise BadInput(f"{place} of {name} is not a sequence", _FORMS)
        sequences.append(sequence)
    if not sequences:
        raise BadInput(f"{name} holds no sequences", _FORMS)
    return sequences


def _read_values(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield each value and its place; None for a line that is none."""
    if text.lstrip().startswith("["):
        try:
            values = parse_json(text)
        except ValueError:
            raise BadInput(f"{name} is not a whole JSON list", _FORMS) from None
        yield from ((f"entry {number}", value) for number, value in enumerate(values, 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError:
            yield f"line {number}", None
