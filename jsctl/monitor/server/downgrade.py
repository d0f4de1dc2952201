"""Streams and consumers that need a higher API level than a server has after a downgrade (ADR-44)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]

_LEVEL_KEY = "_nats.req.level"  #: the key of metadata in which servers record the level that an asset needs


class StreamLevel(NamedTuple):
    """A stream and the API level that it needs."""

    account: str
    name: str
    api_level: int


class ConsumerLevel(NamedTuple):
    """A consumer and the API level that it needs. stays: its stream can be read at the level in question."""

    account: str
    name: str
    stream: str
    api_level: int
    stays: bool


def find_incompatible(
    replies: Sequence[Json], level: int, *, with_all: bool
) -> tuple[list[StreamLevel], list[ConsumerLevel]]:
    """Return the streams and consumers that need more than an API level, each once.

    replies: of all servers, with everything (JSZ). with_all: also the other consumers of such streams.
    """
    streams: set[StreamLevel] = set()
    consumers: set[ConsumerLevel] = set()
    for account in (
        account for reply in replies for account in (reply.get("data") or {}).get("account_details") or ()
    ):
        for stream in account.get("stream_detail") or ():
            needed = StreamLevel(account["name"], stream["name"], _get_level(stream))
            stays = needed.api_level <= level
            if not stays:
                streams.add(needed)
            for consumer in stream.get("consumer_detail") or ():
                consumer_level = ConsumerLevel(
                    needed.account, consumer["name"], needed.name, _get_level(consumer), stays
                )
                if consumer_level.api_level > level or (with_all and not stays):
                    consumers.add(consumer_level)
    return sorted(streams), sorted(
        consumers, key=lambda consumer: (consumer.account, consumer.stream, consumer.name)
    )


def _get_level(detail: Json) -> int:
    text = str(((detail.get("config") or {}).get("metadata") or {}).get(_LEVEL_KEY, "0"))
    return int(text) if text.isdecimal() else 0
