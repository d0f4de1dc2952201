"""Leaders and peers of replicated streams and consumers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from jsctl.errors import ApiError, BadInput, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.units import SECOND

PEER_REMAP_FAILED = 10075
ELECTION = 15 * SECOND
"""ns that an election may take: a follower waits up to 9 s before it stands (nats-server: raft.go), when
the one that should lead was not there in time."""


class Move(NamedTuple):
    """A leader that should stand down for another."""

    name: str
    cluster: str
    leader: str
    preferred: str


def cluster(info: Json) -> Json:
    """A stream's or consumer's cluster. Raises JsctlError when it has no replicas."""
    found: Json = info.get("cluster") or {}
    if not found.get("replicas"):
        name = info.get("name") or info["config"]["name"]
        raise JsctlError(
            f"{'consumer' if 'name' in info else 'stream'} {name} has one replica and no other to lead it",
            "jsctl stream edit --replicas 3 adds some, in a cluster",
        )
    return found


def is_clustered(info: Json) -> bool:
    """Whether there is a group with more than one server."""
    return bool((info.get("cluster") or {}).get("replicas"))


async def step_down(api: Api, stream: str, preferred: str = "") -> None:
    """Make a stream's leader stand down; `preferred` names the server that should follow it."""
    body: Json | None = None
    if preferred:
        await api_levels.require(api, {ApiLevel.V2_11: ["--preferred"]})
        body = {"placement": {"preferred": preferred}}
    await api.call(f"STREAM.LEADER.STEPDOWN.{stream}", body)


async def new_leader(ask: Callable[[], Awaitable[Json]], before: str, timeout: int = ELECTION) -> str:
    """Who leads after `before`, asked again and again for `timeout` ns: another server; `before` itself
    when it was elected again. Raises RequestTimeout when there is none in time."""
    loop = asyncio.get_running_loop()
    deadline, leader = loop.time() + timeout / SECOND, ""
    while loop.time() < deadline:
        try:
            leader = str(((await ask()).get("cluster") or {}).get("leader") or "")
        except (Unreachable, ApiError):
            leader = ""  # nobody answers while there is no leader
        if leader and leader != before:
            return leader
        await asyncio.sleep(0.1)
    if not leader:
        raise RequestTimeout(
            f"no new leader in {timeout / SECOND:g}s",
            "are most of its servers there? jsctl stream info shows them",
        )
    return leader


async def remove_peer(api: Api, stream: str, peer: str) -> None:
    """Take a server out of a stream's group; the cluster puts another in its place.

    Raises ApiError, with what to do when there is no other server.
    """
    try:
        await api.call(f"STREAM.PEER.REMOVE.{stream}", {"peer": peer})
    except ApiError as error:
        if error.err_code != PEER_REMAP_FAILED:
            raise
        hint = "no other server can take the replica; jsctl stream edit --replicas asks for fewer"
        raise ApiError(error.code, error.err_code, error.description, hint) from None


def peers(info: Json) -> list[str]:
    """Servers of a group, the leader first."""
    found: Json = info.get("cluster") or {}
    names = [str(found.get("leader") or "")] + [str(peer["name"]) for peer in found.get("replicas") or []]
    return [name for name in names if name]


def plan(infos: Iterable[Json]) -> list[Move]:
    """The moves after which no server leads two more than another that could take one.

    Only current followers take over; what has one replica counts and stays.
    """
    groups: dict[str, dict[str, tuple[str, list[str]]]] = {}
    for info in infos:
        group = info.get("cluster") or {}
        able = [
            str(peer["name"])
            for peer in group.get("replicas") or []
            if peer.get("current") and not peer.get("offline")
        ]
        if group.get("leader") and group.get("name"):
            name = str(info.get("name") or info["config"]["name"])
            groups.setdefault(str(group.get("name", "")), {})[name] = (str(group["leader"]), able)
    return [move for name, members in sorted(groups.items()) for move in _level(name, members)]


def _level(cluster: str, members: dict[str, tuple[str, list[str]]]) -> list[Move]:
    counts = Counter({peer: 0 for leader, able in members.values() for peer in (leader, *able)})
    counts.update(leader for leader, _ in members.values())
    left, moves = dict(members), list[Move]()
    while True:
        options = [
            (counts[peer] - counts[leader], name, leader, peer)
            for name, (leader, able) in left.items()
            for peer in able
            if counts[leader] - counts[peer] >= 2
        ]
        if not options:
            return moves
        _, name, leader, peer = min(options)
        del left[name]  # each moves once
        counts[leader] -= 1
        counts[peer] += 1
        moves.append(Move(name, cluster, leader, peer))


def check_preferred(group: Json, preferred: str) -> None:
    """Raises JsctlError when the server leads already, BadInput when it could not take over."""
    if preferred and preferred == group.get("leader"):
        raise JsctlError(f"{preferred} leads already", "nothing was changed")
    names = sorted(str(peer["name"]) for peer in group.get("replicas") or [])
    if preferred and preferred not in names:
        raise BadInput(f"{preferred} cannot lead: it has no replica", f"these have: {', '.join(names)}")
