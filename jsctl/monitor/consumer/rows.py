"""The rows of a consumer report, the most severe first. Only `collect` and `count_messages` send requests."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import compute_age, read_known_time
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.state import find_required_level, format_followers
from jsctl.monitor.consumer.diagnosis import find_troubles
from jsctl.monitor.consumer.evidence import gather_evidence
from jsctl.monitor.consumer.facts import NOBODY, Facts, select_stream_facts
from jsctl.monitor.trouble import Trouble


class Row(NamedTuple):
    """A consumer's line. Durations are ns, times RFC 3339 as the server wrote them."""

    stream: str
    consumer: str
    mode: str  #: pull or push
    ack_policy: str
    ack_wait: int
    ack_pending: int
    max_ack_pending: int  #: -1 is unlimited
    redelivered: int
    unprocessed: int
    matching: int  #: messages in the stream that its filter matches
    ack_floor: int  #: stream sequence
    ack_age: int  #: ns since the last acknowledgement, NEVER (-1) for none
    waiting: int  #: pulls that wait
    bound: bool  #: push: somebody listens
    paused_until: str | None
    pinned: tuple[str, ...]  #: `group: client` of each pinned priority group
    api_level: int
    clustered: bool
    cluster: str | None
    leader: str | None
    peers: tuple[str, ...]  #: followers, `name!` for one that is offline or behind
    troubles: tuple[Trouble, ...]  #: the worst first

    @property
    def share(self) -> float:
        """Share of the messages matching its filter that are not processed yet, 0 to 1."""
        return min(1.0, self.unprocessed / self.matching) if self.matching else float(self.unprocessed > 0)

    @property
    def at_limit(self) -> bool:
        """Whether nothing is delivered before something is acknowledged."""
        return 0 < self.max_ack_pending <= self.ack_pending

    @property
    def idle(self) -> bool:
        """Whether messages are pending and no client requests them."""
        return self.unprocessed > 0 and any(trouble.words in NOBODY for trouble in self.troubles)

    @property
    def trouble(self) -> list[str]:
        """What is wrong, in a few words each."""
        return [trouble.words for trouble in self.troubles]

    @property
    def severity(self) -> int:
        """3 without a leader; 2 if something does not work; 1 if it is behind or suspicious; 0 otherwise."""
        if self.clustered and not self.leader:
            return 3
        if any(trouble.bad for trouble in self.troubles) or (self.paused_until and self.unprocessed):
            return 2
        return int(bool(self.troubles or self.redelivered or self.unprocessed))


async def collect(api: Api, streams: Mapping[str, Json]) -> tuple[list[Row], Sequence[ConsumerList]]:
    """Fetch the rows of all consumers of these streams, and the lists as the servers sent them.

    streams: their STREAM.INFO by name. The lists also name the consumers that did not answer. Raises what
    `Api.call` raises.
    """
    lists = await consumers.list_consumers_of_streams(api, streams, keep_refused=True)
    pairs = {
        (listed.stream, subject)
        for listed in lists
        for info in listed.infos
        if info.get("num_pending")
        for subject in get_filters(info["config"])
    }
    gate = asyncio.Semaphore(16)

    async def count_one(stream: str, subject: str) -> int | None:
        async with gate:
            return await count_messages(api, stream, subject)

    keys = sorted(pairs)
    numbers, evidence = await asyncio.gather(
        asyncio.gather(*(count_one(*key) for key in keys)),
        gather_evidence(
            api,
            {listed.stream: select_stream_facts(streams[listed.stream]) for listed in lists},
            [info for listed in lists for info in listed.infos],
        ),
    )
    counts = dict(zip(keys, numbers, strict=True))
    facts = {name: select_stream_facts(info, evidence.consumers.get(name)) for name, info in streams.items()}
    rows = [
        build_consumer_row(info, _sum_matching(info, streams[listed.stream], counts), facts[listed.stream])
        for listed in lists
        for info in listed.infos
    ]
    return sort_by_severity(rows), lists


async def count_messages(api: Api, stream: str, subject: str) -> int | None:
    """Return how many messages of a stream match a subject filter; None if unknown."""
    try:
        reply = await api.call(f"STREAM.INFO.{stream}", {"subjects_filter": subject})
    except JsctlError:
        return None
    counts = reply["state"].get("subjects") or {}
    # A page has 100,000 subjects; fetching more would take too long for a report.
    return None if int(reply.get("total", 0)) > len(counts) else sum(counts.values())


def sort_by_severity(rows: Iterable[Row]) -> list[Row]:
    """Return the rows sorted: those with the worst state first, then those with the most messages to
    process."""
    return sorted(
        rows,
        key=lambda r: (-r.severity, -r.unprocessed, -r.ack_pending, -r.redelivered, r.stream, r.consumer),
    )


def build_consumer_row(info: Json, matching: int, stream: Json | None = None) -> Row:
    """Return a consumer's row. matching: messages in the stream that its filters match. stream: see
    `select_stream_facts`."""
    config, cluster = info["config"], info.get("cluster") or {}
    floor = info.get("ack_floor") or {}
    pull = consumers.is_pull(config)
    return Row(
        info["stream_name"],
        info["name"],
        "pull" if pull else "push",
        config.get("ack_policy", ""),
        int(config.get("ack_wait", 0)),
        int(info.get("num_ack_pending", 0)),
        int(config.get("max_ack_pending", 0)) or -1,
        int(info.get("num_redelivered", 0)),
        int(info.get("num_pending", 0)),
        matching,
        int(floor.get("stream_seq", 0)),
        compute_age(floor.get("last_active"), info.get("ts")),
        int(info.get("num_waiting", 0)),
        bool(info.get("push_bound")),
        read_known_time(config.get("pause_until")) if info.get("paused") else None,
        tuple(
            f"{group.get('group', '')}: {group['pinned_client_id']}"
            for group in info.get("priority_groups") or []
            if group.get("pinned_client_id")
        ),
        find_required_level(config),
        bool(cluster.get("raft_group") or cluster.get("replicas")),
        cluster.get("name"),
        cluster.get("leader"),
        format_followers(cluster),
        tuple(find_troubles(Facts(info["stream_name"], info["name"], info, stream or {}))),
    )


def _sum_matching(info: Json, stream: Json, counts: Mapping[tuple[str, str], int | None]) -> int:
    total = int(stream["state"].get("messages", 0))
    subjects = get_filters(info["config"])
    if not subjects:
        return total
    known_counts = [counts.get((info["stream_name"], subject)) for subject in subjects]
    numbers = [number for number in known_counts if number is not None]
    return sum(numbers) if len(numbers) == len(known_counts) else total
