"""Publishing the frozen messages of a redrive again, and going on where an earlier run ended."""

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence, Sized
from contextlib import aclosing
from typing import Literal, NamedTuple

from jsctl.base.loops import sleep
from jsctl.base.units import join_some, pluralize, to_ns
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publish_acked import publish_with_acks
from jsctl.jetstream.message.republishing import DROPPED, MESSAGE_ID, NEEDED_SETTINGS, drop_headers
from jsctl.jetstream.message.retry_policy import RetryPolicy
from jsctl.jetstream.redrive.choose import COUNT
from jsctl.jetstream.redrive.journal import Item, Journal, Place
from jsctl.jetstream.redrive.plan import RedrivePlan
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.waiting import PatientApi
from jsctl.nats.headers import encode_headers, find_header, parse_headers
from jsctl.nats.message import Message, OutgoingMessage

RUN, SEQUENCE = "Jsctl-Redrive-Run", "Jsctl-Redrive-Sequence"
_STREAM, _CONSUMER, _SUBJECT = "Jsctl-Redrive-Stream", "Jsctl-Redrive-Consumer", "Jsctl-Redrive-Subject"
_LEFT_OUT = (MESSAGE_ID, "Jsctl-Redrive-*", *DROPPED)
_PART = 64  #: messages that are sent at once
_ANSWER_CHECKS, _ANSWER_PAUSE = 200, 0.01  #: seconds: a failure is raised where the next part is asked for
_MAX_ADDED = 4096  #: bytes of the headers that are added, at most
_SAFE = 0.9  #: the part of a duplicate window in which a message is certainly stored once


class Pace(NamedTuple):
    """How fast to publish. rate: messages per second, 0 for no limit. should_pause: asked before each
    part, and then once a second."""

    rate: int = 0
    should_pause: Callable[[], Awaitable[bool]] | None = None


def build_head(
    api: Api, run: str, source: Json, consumer: str, options: Json, targets: Mapping[str, Json]
) -> Json:
    """Return the head of a journal. source: the stream's info. options: what must be the same to go on.
    targets: by subject, the info of the stream that stores it."""
    return {
        "run": run,
        "stream": source["config"]["name"],
        "created": source["created"],
        "consumer": consumer,
        "domain": api.domain,
        "options": options,
        "targets": {subject: info["config"]["name"] for subject, info in targets.items()},
        "starts": {
            info["config"]["name"]: {
                "created": info["created"],
                "last": int(info["state"]["last_seq"]),
                "deleted": int(info["state"].get("num_deleted", 0)),
            }
            for info in targets.values()
        },
    }


async def check_sizes(api: Api, head: Json, plan: RedrivePlan, sizes: Mapping[int, int]) -> None:
    """Raise BadInput if messages are too large for their target once they have the headers that are added.
    sizes: of each message's headers and payload, in bytes."""
    limits, most = dict[str, int](), api.connection.max_payload
    for subject, info in plan.targets.items():
        own = int(info["config"].get("max_msg_size") or -1)
        limits[subject] = min(most, own) if own > 0 else most
    close = [item for item in plan.items if sizes[item.sequence] + _MAX_ADDED > limits[item.subject]]
    near = {item.sequence: item for item in close}
    too_large = [
        sequence
        async for sequence, message in browse.fetch_each(api, head["stream"], sorted(near))
        if message is not None
        and _compose(message, near[sequence], head, plan.targets[near[sequence].subject]["config"]).size
        > limits[near[sequence].subject]
    ]
    if too_large:
        size = min(sizes[sequence] for sequence in too_large)
        raise BadInput(
            f"{pluralize(len(too_large), 'message')} would be larger than the target takes, with the headers"
            f" that a redrive adds: {join_some(too_large, 10)}",
            f"--match 'size < {size}' leaves them out",
        )


async def publish_remaining(
    api: PatientApi, journal: Journal, pace: Pace, advance: Callable[[int], None], say: Callable[[str], None]
) -> PublishTotals:
    """Publish what has no outcome yet. advance: called with a number of messages that have one now.

    Raises what `publish_with_acks` raises, after waiting for a leader; the journal says what is stored.
    """
    head, totals = journal.head, PublishTotals()
    configs = {
        name: (await streams.fetch_info(api, name))["config"] for name in set(head["targets"].values())
    }
    sequences: dict[bytes, int] = {}
    pauses = pace.should_pause

    async def compose() -> AsyncGenerator[Sequence[OutgoingMessage], None]:
        size = max(1, min(_PART, pace.rate // 20)) if pace.rate else _PART
        remaining = journal.remaining
        due = time.monotonic()
        for at in range(0, len(remaining), size):
            if pauses is not None:
                await _wait_for_turn(pauses, sequences, say)
            part = {item.sequence: item for item in remaining[at : at + size]}
            burst, gone = list[OutgoingMessage](), list[int]()
            async for sequence, message in browse.fetch_each(api, head["stream"], [*part]):
                if message is None:
                    gone.append(sequence)
                    continue
                item = part[sequence]
                stream = head["targets"][item.subject]
                outgoing = _compose(message, item, head, configs[stream])
                sequences[outgoing.header_block] = sequence
                burst.append(outgoing)
            journal.note("gone", gone)
            advance(len(gone))
            if burst:
                journal.note_sent([sequences[one.header_block] for one in burst], time.time_ns())
                yield burst
            if pace.rate:
                due = max(due + len(part) / pace.rate, time.monotonic() - 1)
                await sleep(max(0.0, due - time.monotonic()))

    def handle_published(message: OutgoingMessage, ack: Json | None) -> None:
        sequence, ack = sequences.pop(message.header_block), ack or {}
        place = Place(str(ack["stream"]), int(ack["seq"]), bool(ack.get("duplicate")))
        journal.note_stored({sequence: place})
        advance(1)

    async with aclosing(compose()) as bursts:
        await publish_with_acks(api.connection, bursts, totals, handle_published, RetryPolicy(api.once, say))
    return totals


async def _wait_for_turn(
    should_pause: Callable[[], Awaitable[bool]], waiting: Sized, say: Callable[[str], None]
) -> None:
    """Wait while publishing should pause. waiting: messages without an answer, which nobody counts yet."""
    for _ in range(_ANSWER_CHECKS):
        if not waiting:
            break
        await sleep(_ANSWER_PAUSE)
    is_paused = False
    while await should_pause():
        if not is_paused:
            say("Paused by --pause-on")
        is_paused = True
        await sleep(1)
    if is_paused:
        say("Continuing")


def _compose(message: Message, item: Item, head: Json, config: Json) -> OutgoingMessage:
    """Return what is published for a message: its payload, the headers that are no instructions to the server
    that stored it, and where it is from."""
    forbidden = [name for name, setting in NEEDED_SETTINGS.items() if not config.get(setting)]
    stored_headers = parse_headers(message.header_block) if message.header_block else []
    headers = drop_headers(stored_headers, [*_LEFT_OUT, *forbidden])
    stored = to_ns(message.timestamp)
    # The same for each try, so that a stream stores it once within its duplicate window.
    message_id = f"redrive:{head['stream']}:{item.sequence}:{stored}:{item.redrives}"
    if head["options"].get("again"):
        message_id += f":{head['run']}"
    headers += [
        (MESSAGE_ID, message_id),
        ("Nats-Expected-Stream", head["targets"][item.subject]),
        (RUN, head["run"]),
        (_STREAM, head["stream"]),
        *([(_CONSUMER, head["consumer"])] if head["consumer"] else []),
        (SEQUENCE, str(item.sequence)),
        (_SUBJECT, message.subject),
        (COUNT, str(item.redrives)),
    ]
    return OutgoingMessage(item.subject, message.data, "", encode_headers(headers))


async def check_streams(api: Api, head: Json) -> None:
    """Raise JsctlError if a stream of a journal is another one by now."""
    expected = {head["stream"]: head["created"]}
    expected |= {name: start["created"] for name, start in head["starts"].items()}
    for name, created in expected.items():
        if (await streams.fetch_info(api, name))["created"] != created:
            raise JsctlError(
                f"stream {name} was created anew since the journal was begun", "begin another journal"
            )


async def settle_uncertain(api: Api, journal: Journal, policy: Literal["send", "skip"] | None) -> None:
    """Find out about messages that were sent without an answer, so that none is stored twice.

    They are looked for in their stream. One that is not there may have been removed since, unless nothing
    was; within the duplicate window it can be sent again in any case. policy: what becomes of others; None
    to raise BadInput.
    """
    uncertain = journal.uncertain
    if not uncertain:
        return
    if found := await find_stored(api, journal, uncertain):
        journal.note_stored(found)
    unknown: list[int] = []
    for stream, items in _group(journal, uncertain).items():
        info = await streams.fetch_info(api, stream)
        start, state = journal.head["starts"][stream], info["state"]
        is_complete = (
            info["config"].get("retention", "limits") == "limits"
            and int(state["first_seq"]) <= start["last"] + 1
            and int(state.get("num_deleted", 0)) == start["deleted"]
        )
        window = _SAFE * int(info["config"].get("duplicate_window") or 0)
        unknown += [
            item.sequence
            for item in items
            if item.sequence not in found
            and not is_complete
            and time.time_ns() - journal.sent[item.sequence] > window
        ]
    if not unknown or policy == "send":
        return
    if policy == "skip":
        journal.note("skipped", unknown)
        return
    raise BadInput(
        f"{pluralize(len(unknown), 'message')} may be stored already, or not: {join_some(unknown, 10)};"
        " the target may have removed them, and its duplicate window has passed",
        "--uncertain skip leaves them, --uncertain send publishes them again",
    )


async def find_stored(api: Api, journal: Journal, items: Iterable[Item]) -> dict[int, Place]:
    """Return where messages of this run are stored, as their headers say."""
    found: dict[int, Place] = {}
    for stream, own in _group(journal, items).items():
        subjects = {item.subject for item in own}
        wanted = {item.sequence for item in own}
        start = int(journal.head["starts"][stream]["last"]) + 1
        try:
            info = await streams.fetch_info(api, stream)
        except NotFound:
            continue
        reading = browse.read(
            api,
            stream,
            start=start,
            subject=subjects.pop() if len(subjects) == 1 else "",
            last=int(info["state"]["last_seq"]),
            bulk=bool(info["config"].get("allow_direct")),
        )
        async with aclosing(reading) as messages:
            async for message in messages:
                if is_of_run(message, journal.head["run"]):
                    text = find_header(message.header_block, SEQUENCE)
                    if text.isdigit() and int(text) in wanted:
                        found[int(text)] = Place(stream, message.sequence)
    return found


async def count_lost(api: Api, journal: Journal) -> int:
    """Return how many messages were not stored because an earlier redrive had stored them, and are not in
    their stream any more: they were consumed or expired, or that redrive was undone."""
    lost = 0
    for stream in {place.stream for place in journal.stored.values() if place.is_duplicate}:
        places = [place for place in journal.stored.values() if place.is_duplicate and place.stream == stream]
        async for _, message in browse.fetch_each(api, stream, sorted(place.sequence for place in places)):
            lost += message is None
    return lost


def is_of_run(message: Message, run: str) -> bool:
    """Return whether a message was published by a run."""
    return RUN.encode() in message.header_block and find_header(message.header_block, RUN) == run


def _group(journal: Journal, items: Iterable[Item]) -> dict[str, list[Item]]:
    """Return items by the stream that stores them."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[journal.head["targets"][item.subject]].append(item)
    return groups
