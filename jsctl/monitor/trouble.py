"""What is wrong, in a few words, and what is wrong with the servers that hold a stream or consumer. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from jsctl.jetstream.api import Json
from jsctl.units import SECOND, compute_age, format_count, format_exact_duration, truncate_to_seconds

ABSENT = 10 * SECOND  #: since a replica was last heard from
YOUNG = 10 * SECOND  #: in which a new stream finds its replicas and origins


class Trouble(NamedTuple):
    """A problem in a few words. bad: something does not work; otherwise it may soon not."""

    words: str
    bad: bool


class ReplicaState(NamedTuple):
    """A follower that is away or behind. state: such as `not seen for 33s`. bad: as of a Trouble."""

    server: str
    state: str
    bad: bool

    @property
    def trouble(self) -> Trouble:
        """What is wrong with it."""
        return Trouble(f"replica {self.server} {self.state}", self.bad)


def is_settled(created: str | None, now: datetime | str | None) -> bool:
    """Return whether a stream or consumer has had the time to find its replicas and origins."""
    return not created or compute_age(created, now) > YOUNG


def has_leader(info: Json) -> bool:
    """Return whether a stream or consumer has a leader; outside of a cluster it needs none."""
    group = info.get("cluster") or {}
    return bool(group.get("leader")) or not (group.get("raft_group") or group.get("replicas"))


def is_away(peer: Json, led: int = 0) -> bool:
    """Return whether a member of a Raft group is away.

    One that died is called offline only for a short time, and is then no longer heard of.
    """
    return bool(peer.get("offline")) or (not peer.get("current") and _silence(peer, led) >= ABSENT)


def _silence(peer: Json, led: int) -> int:
    """Return the ns in which a leader has heard nothing of a member: for `active`, 0 is never."""
    return int(peer.get("active", 0)) or led


def check_replicas(info: Json, now: datetime | str | None) -> Iterator[Trouble]:
    """Yield what is wrong with the followers of a stream or consumer."""
    for replica in find_lagging_replicas(info, now):
        yield replica.trouble


def find_lagging_replicas(info: Json, now: datetime | str | None) -> Iterator[ReplicaState]:
    """Yield the followers of a stream or consumer that are away or behind."""
    group = info.get("cluster") or {}
    replicas = group.get("replicas")
    if not replicas:
        return  # nearly always: reading times is what costs
    young = not is_settled(info.get("created"), now)
    for peer in replicas:
        if peer.get("offline"):
            yield ReplicaState(peer["name"], "offline", True)
        elif not peer.get("current") and not young:
            led = max(compute_age(group.get("leader_since"), now), 0)
            silence = _silence(peer, led)
            words = "outdated" if peer.get("active") else "not seen"
            if silence >= ABSENT:
                words = f"not seen for {format_exact_duration(truncate_to_seconds(silence))}"
            behind = f", {format_count(peer['lag'])} behind" if peer.get("lag") else ""
            yield ReplicaState(peer["name"], f"{words}{behind}", is_away(peer, led))
