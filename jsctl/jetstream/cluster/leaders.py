"""Leaders of replicated streams and consumers: who leads, and how another server is elected."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, BadInput, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams

ELECTION_TIMEOUT = 15 * SECOND
"""ns that an election may take: when the server that should lead was not ready in time, a follower waits up
to 9 s before it becomes a candidate (nats-server: raft.go)."""

_POLL_INTERVAL = 0.1  #: seconds between two requests for the leader


@dataclass(frozen=True, slots=True)
class RaftGroup:
    """A stream or consumer as a group of servers with a leader.

    label: `stream ORDERS` or `consumer ORDERS > NEW`. fetch_info: fetches its info. step_down: makes its
    leader step down; the argument names the server that should lead next, or is empty.
    """

    name: str
    label: str
    fetch_info: Callable[[], Awaitable[Json]]
    step_down: Callable[[str], Awaitable[None]]


class LeaderChange(NamedTuple):
    """The result of an election. info: of the stream or consumer afterwards."""

    old_leader: str  #: empty if none was known
    new_leader: str
    info: Json


def build_stream_group(api: Api, stream: str) -> RaftGroup:
    """Return the group of a stream."""
    return RaftGroup(
        name=stream,
        label=f"stream {stream}",
        fetch_info=partial(streams.fetch_info, api, stream),
        step_down=partial(_step_down, api, f"STREAM.LEADER.STEPDOWN.{stream}"),
    )


def build_consumer_group(api: Api, stream: str, consumer: str) -> RaftGroup:
    """Return the group of a consumer."""
    return RaftGroup(
        name=consumer,
        label=f"consumer {stream} > {consumer}",
        fetch_info=partial(consumers.fetch_info, api, stream, consumer),
        step_down=partial(_step_down, api, f"CONSUMER.LEADER.STEPDOWN.{stream}.{consumer}"),
    )


def is_replicated(info: Json) -> bool:
    """Return whether a stream or consumer is on more than one server."""
    return bool((info.get("cluster") or {}).get("replicas"))


async def elect_leader(
    group: RaftGroup,
    preferred: str,
    *,
    force: bool,
    on_request: Callable[[str, int], object],
) -> LeaderChange:
    """Make the leader step down, and wait until a server leads again.

    preferred: the server that should lead next. force: also when no leader is known. on_request: called with
    the present leader (may be empty) and the number of peers, before the leader is asked to step down.
    Raises JsctlError for a group without replicas or leader, BadInput for a server that cannot lead,
    RequestTimeout when nobody is elected in time.
    """
    info = await group.fetch_info()
    cluster = info.get("cluster") or {}
    replicas = cluster.get("replicas") or []
    if not replicas:
        raise JsctlError(
            f"{group.label} has only one replica: no other server can lead it",
            f"in a cluster, {build_line('stream edit', flags=['--replicas', '3'])} adds replicas",
        )
    leader = str(cluster.get("leader") or "")
    if not leader and not force:
        raise JsctlError(f"{group.label} has no leader now", "--force requests an election anyway")
    _check_preferred(cluster, preferred)
    on_request(leader, len(replicas) + 1)
    await group.step_down(preferred)
    elected = await wait_for_leader(group, leader)
    return LeaderChange(leader, elected, await group.fetch_info())


async def wait_for_leader(group: RaftGroup, old_leader: str) -> str:
    """Return who leads after `old_leader`: another server, or `old_leader` when it was elected again.

    Asks repeatedly until another server leads, for up to ELECTION_TIMEOUT. Raises RequestTimeout when none
    leads then.
    """
    loop = asyncio.get_running_loop()
    deadline, leader = loop.time() + ELECTION_TIMEOUT / SECOND, ""
    while loop.time() < deadline:
        try:
            leader = str(((await group.fetch_info()).get("cluster") or {}).get("leader") or "")
        except (Unreachable, ApiError):
            leader = ""  # without a leader nobody answers
        if leader and leader != old_leader:
            return leader
        await asyncio.sleep(_POLL_INTERVAL)
    if not leader:
        raise RequestTimeout(
            f"no new leader in {ELECTION_TIMEOUT / SECOND:g}s",
            f"{build_line('stream info')} shows whether most of its servers are online",
        )
    return leader


def _check_preferred(cluster: Json, preferred: str) -> None:
    """Raise JsctlError when the server leads already, BadInput when it could not take over."""
    if preferred and preferred == cluster.get("leader"):
        raise JsctlError(f"{preferred} is already the leader", "nothing was changed")
    names = sorted(str(peer["name"]) for peer in cluster.get("replicas") or [])
    if preferred and preferred not in names:
        raise BadInput(
            f"{preferred} cannot lead: it is not a follower", f"the followers are: {', '.join(names)}"
        )


async def _step_down(api: Api, subject: str, preferred: str) -> None:
    body: Json | None = None
    if preferred:
        await api_levels.require(api, {ApiLevel.V2_11: ["--preferred"]})
        body = {"placement": {"preferred": preferred}}
    await api.call(subject, body)
