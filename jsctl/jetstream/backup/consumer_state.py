"""What a server stores of a consumer: which messages wait for acknowledgements, and which came repeatedly.

CONSUMER.INFO only counts these. A snapshot begins with its consumers (nats-server 2.15: stream_backup.go), so
that its first chunks are enough, however large the stream is. Clustered servers put no messages into them.
"""

from contextlib import aclosing
from typing import NamedTuple

from jsctl.errors import ApiError, Denied
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.archive import ArchiveReader, Consumer
from jsctl.jetstream.backup.s2 import FrameReader
from jsctl.jetstream.backup.snapshot import request_snapshot
from jsctl.jetstream.consumer import requests

_CHUNK = 64 << 10


class Pending(NamedTuple):
    """A delivery that waits for its acknowledgement. time: when its message was stored, or from when on the
    server counts its wait if a client has delayed it, in ns since the epoch."""

    consumer_sequence: int
    time: int


class ConsumerState(NamedTuple):
    """The state of a consumer, by stream sequence. delivered: the last sequence that was delivered.
    redelivered: number of deliveries, of messages with more than one and of those that were given up.
    unsettled: how many of the pending ones were given up, where nothing tells which these are."""

    delivered: int
    floor: int
    pending: dict[int, Pending]
    redelivered: dict[int, int]
    unsettled: int = 0


async def fetch_consumer_state(api: Api, info: Json) -> ConsumerState | str:
    """Fetch the state that the server stores, or return why it does not give it. info: the consumer's."""
    try:
        content = await _read_first_entries(api, str(info["stream_name"]), str(info["name"]))
    except Denied:
        return "the login may not ask for a snapshot"
    except (ApiError, ValueError) as error:
        return f"the server gives no snapshot that can be read ({error})"
    if content is None:
        return "a snapshot of the stream does not hold the consumer"
    return await _settle(api, _parse(content["state"]), info)


async def _settle(api: Api, state: ConsumerState, info: Json) -> ConsumerState:
    """Return the state without what waits for no acknowledgement any more.

    Where one acknowledgement is for all before it, servers (2.15) store late, or never, that messages were
    given up after more than one delivery. The consumer's info counts fewer that wait; which ones do not is
    known unless the last delivery of others is under way. info: of before the state.
    """
    most, count = int(info["config"].get("max_deliver") or -1), int(info.get("num_ack_pending") or 0)
    surplus = len(state.pending) - count
    spent = [one for one in state.pending if not count or state.redelivered.get(one, 0) + 1 >= most]
    if most < 1 or surplus < 1 or len(spent) < surplus:
        return state
    again = await requests.fetch_info(api, str(info["stream_name"]), str(info["name"]))
    if any(again[key] != info[key] for key in ("delivered", "ack_floor", "num_ack_pending")):
        return state  # it waits since then
    if len(spent) != surplus:
        return state._replace(unsettled=surplus)
    waiting = {one: delivery for one, delivery in state.pending.items() if one not in spent}
    return state._replace(pending=waiting, redelivered={**state.redelivered, **dict.fromkeys(spent, most)})


async def _read_first_entries(api: Api, stream: str, name: str) -> Json | None:
    """Return the consumer's entry in a snapshot; nothing is read behind it."""
    frames, reader = FrameReader(), ArchiveReader()
    async with (
        request_snapshot(api, stream, consumers=True, chunk_size=_CHUNK, window_size=_CHUNK) as snapshot,
        aclosing(snapshot.chunks) as chunks,
    ):
        async for chunk in chunks:
            for frame in frames.feed(chunk):
                for item in reader.feed(frame.decode() if frame.has_data else b""):
                    if isinstance(item, Consumer) and item.name == name:
                        return item.content
            if reader.totals.messages:
                return None
    return None


def _parse(state: Json) -> ConsumerState:
    pending = {
        int(sequence): Pending(int(one.get("Sequence", 0)), int(one.get("Timestamp", 0)))
        for sequence, one in (state.get("pending") or {}).items()
    }
    redelivered = {int(sequence): int(count) for sequence, count in (state.get("redelivered") or {}).items()}
    delivered, floor = (int(state[key].get("stream_seq", 0)) for key in ("delivered", "ack_floor"))
    return ConsumerState(delivered, floor, pending, redelivered)
