"""Balancing: moving leaders of streams or consumers until no server leads two more than another."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.cluster.leaders import RaftGroup, wait_for_leader


class Move(NamedTuple):
    """A leader that steps down for another server."""

    name: str  #: of the stream or consumer
    cluster: str
    leader: str
    preferred: str  #: the server that should lead, or after the move the one that leads


class Balance(NamedTuple):
    """The moves that were made, and those that failed, each with the reason."""

    moves: list[Move]
    failed: list[tuple[Move, str]]


class _Member(NamedTuple):
    leader: str
    followers: list[str]  #: those that could take over


async def balance_leaders(
    groups: Mapping[str, RaftGroup],
    moves: Iterable[Move],
    on_move: Callable[[RaftGroup, Move], object],
) -> Balance:
    """Make the moves one after the other; one that fails does not stop the others.

    groups: by the names in the moves. on_move: called after each move, whose `preferred` then names the
    server that was elected.
    """
    completed: list[Move] = []
    failed: list[tuple[Move, str]] = []
    for move in moves:
        group = groups[move.name]
        try:
            await group.step_down(move.preferred)
            elected = await wait_for_leader(group, move.leader)
        except JsctlError as error:
            failed.append((move, str(error)))
            continue
        completed.append(move._replace(preferred=elected))
        on_move(group, completed[-1])
    return Balance(completed, failed)


def plan_moves(infos: Iterable[Json]) -> list[Move]:
    """Return the moves after which no server leads two more than another that could take one over.

    infos: of streams or of consumers, from their leaders. Only current followers take over; a stream or
    consumer with one replica counts, but stays.
    """
    clusters: dict[str, dict[str, _Member]] = {}
    for info in infos:
        cluster = info.get("cluster") or {}
        followers = [
            str(peer["name"])
            for peer in cluster.get("replicas") or []
            if peer.get("current") and not peer.get("offline")
        ]
        if cluster.get("leader") and cluster.get("name"):
            name = str(info.get("name") or info["config"]["name"])
            members = clusters.setdefault(str(cluster["name"]), {})
            members[name] = _Member(str(cluster["leader"]), followers)
    return [move for name, members in sorted(clusters.items()) for move in _plan_cluster(name, members)]


def _plan_cluster(cluster: str, members: dict[str, _Member]) -> list[Move]:
    counts = Counter({peer: 0 for member in members.values() for peer in (member.leader, *member.followers)})
    counts.update(member.leader for member in members.values())
    remaining, moves = dict(members), list[Move]()
    while True:
        options = [
            (counts[peer] - counts[member.leader], name, member.leader, peer)
            for name, member in remaining.items()
            for peer in member.followers
            if counts[member.leader] - counts[peer] >= 2
        ]
        if not options:
            return moves
        _, name, leader, peer = min(options)
        del remaining[name]  # each moves once
        counts[leader] -= 1
        counts[peer] += 1
        moves.append(Move(name, cluster, leader, peer))
