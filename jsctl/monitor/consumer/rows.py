"""The lines of consumers in reports. Those of `consumer report` have the most severe first.

Only `collect` and `count_messages` send requests.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import NEVER, compute_age, read_known_time, truncate_to_seconds
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.state import find_required_level, format_followers, format_migration
from jsctl.monitor.consumer.diagnosis import find_troubles
from jsctl.monitor.consumer.evidence import gather_evidence
from jsctl.monitor.consumer.facts import NOBODY, Facts, select_stream_facts
from jsctl.monitor.counters import NO_TREND, Trend
from jsctl.monitor.trouble import Trouble


class ConsumerLine(NamedTuple):
    """A consumer's line in a report. Durations are ns, times RFC 3339 as the server wrote them; rates are per
    second, None if they are not known."""

    stream: str
    consumer: str
    mode: Literal["push", "pull"]
    ack_policy: str
    ack_wait: int
    ack_pending: int
    max_ack_pending: int  #: -1 is unlimited
    redelivered: int
    unprocessed: int
    ack_floor: int  #: stream sequence
    ack_age: int  #: since the last acknowledgement, NEVER (-1) for none
    last_delivery: int  #: since the last delivery, in whole seconds, NEVER (-1) for none
    waiting: int  #: pulls that wait
    bound: bool  #: push: somebody listens
    paused_until: str | None
    pinned: tuple[str, ...]  #: `group: client` of each pinned priority group
    api_level: int
    clustered: bool
    cluster: str | None
    leader: str | None
    peers: tuple[str, ...]  #: followers, `name!` for one that is offline or behind
    migration: str = ""  #: how far its servers are changed, empty for not
    troubles: Sequence[Trouble] = ()  #: the worst first
    matching: int = 0  #: messages in the stream that its filter matches, where they were counted
    trend: Trend = NO_TREND  #: of `unprocessed`
    drain: int | None = None  #: until nothing is unprocessed, at this pace
    delivered: float | None = None  #: rate
    acknowledged: float | None = None  #: rate

    @property
    def why(self) -> str:
        """A sentence for the worst trouble, empty without one."""
        return self.troubles[0].says if self.troubles else ""

    @property
    def help(self) -> Suggestion | None:
        """A command line for the worst trouble, if there is one."""
        return next((line for trouble in self.troubles[:1] for line in trouble.help), None)

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


async def collect(api: Api, streams: Mapping[str, Json]) -> tuple[list[ConsumerLine], Sequence[ConsumerList]]:
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
        build_consumer_line(info)._replace(
            matching=_sum_matching(info, streams[listed.stream], counts),
            troubles=find_troubles(Facts(listed.stream, info["name"], info, facts[listed.stream])),
        )
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


def sort_by_severity(rows: Iterable[ConsumerLine]) -> list[ConsumerLine]:
    """Return the rows sorted: those with the worst state first, then those with the most messages to
    process."""
    return sorted(
        rows,
        key=lambda r: (-r.severity, -r.unprocessed, -r.ack_pending, -r.redelivered, r.stream, r.consumer),
    )


def build_consumer_line(info: Json, at: datetime | None = None) -> ConsumerLine:
    """Return a consumer as CONSUMER.LIST has it, without rates and troubles. at: when the server answered, if
    it does not say so."""
    config, cluster, now = info.get("config") or {}, info.get("cluster") or {}, info.get("ts") or at
    floor = info.get("ack_floor") or {}
    last = compute_age((info.get("delivered") or {}).get("last_active"), now)
    return ConsumerLine(
        stream=info["stream_name"],
        consumer=info["name"],
        mode="pull" if consumers.is_pull(config) else "push",
        ack_policy=config.get("ack_policy", ""),
        ack_wait=int(config.get("ack_wait", 0)),
        ack_pending=int(info.get("num_ack_pending", 0)),
        max_ack_pending=int(config.get("max_ack_pending", 0)) or -1,
        redelivered=int(info.get("num_redelivered", 0)),
        unprocessed=int(info.get("num_pending", 0)),
        ack_floor=int(floor.get("stream_seq", 0)),
        ack_age=compute_age(floor.get("last_active"), now),
        last_delivery=last if last == NEVER else truncate_to_seconds(last),
        waiting=int(info.get("num_waiting", 0)),
        bound=bool(info.get("push_bound")),
        paused_until=read_known_time(config.get("pause_until")) if info.get("paused") else None,
        pinned=tuple(
            f"{group.get('group', '')}: {group['pinned_client_id']}"
            for group in info.get("priority_groups") or ()
            if group.get("pinned_client_id")
        ),
        api_level=find_required_level(config),
        clustered=bool(cluster.get("raft_group") or cluster.get("replicas")),
        cluster=cluster.get("name"),
        leader=cluster.get("leader") or None,
        peers=format_followers(cluster),
        migration=format_migration(info),
    )


def _sum_matching(info: Json, stream: Json, counts: Mapping[tuple[str, str], int | None]) -> int:
    total = int(stream["state"].get("messages", 0))
    subjects = get_filters(info["config"])
    if not subjects:
        return total
    known_counts = [counts.get((info["stream_name"], subject)) for subject in subjects]
    numbers = [number for number in known_counts if number is not None]
    return sum(numbers) if len(numbers) == len(known_counts) else total
