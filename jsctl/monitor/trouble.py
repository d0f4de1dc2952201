"""What is wrong, and what is wrong with the replicas of a stream or consumer. No I/O."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import SECOND, compute_age, format_count, format_exact_duration, truncate_to_seconds
from jsctl.jetstream.api import Json
from jsctl.jetstream.state import format_migration, list_absent_peers

ABSENT = 10 * SECOND  #: ns since a replica was last heard from, after which it is away
YOUNG = 10 * SECOND  #: ns that a new stream needs to find its replicas and origins
_MIGRATION = 60 * SECOND  #: ns after which a migration should have ended


class Repair(NamedTuple):
    """A command line that ends a trouble and loses nothing.

    command, undo: words without `jsctl`; undo: makes it as it was, empty if nothing does.
    """

    command: Sequence[str]
    undo: Sequence[str] = ()


class Trouble(NamedTuple):
    """Something that is wrong, as the rules find it; a finding of `doctor` also says where.

    words: a few, empty for a rule of a whole network. bad: whether something does not work; otherwise it may
    soon fail. code: of its `Rule`; stable, for scripts. says: a sentence on what was seen;
    empty when the words say it. help: command lines that fix it, one after the other. advice: what to do,
    when it is not what the rule says; of a finding complete, with its command lines.

    Of findings alone: about: what it concerns, for people: "domain spoke-1". why: why it matters. objects:
    the streams, consumers, accounts and servers that it concerns: "stream hub > ORDERS". repair: what
    `doctor --fix` runs; None if a person has to do or choose something.
    """

    words: str
    bad: bool
    code: str
    says: str = ""
    help: Sequence[Suggestion] = ()
    advice: str = ""
    about: str = ""
    why: str = ""
    objects: Sequence[str] = ()
    repair: Repair | None = None

    @classmethod
    def of_network(
        cls, code: str, about: str, says: str, why: str, advice: str, objects: Sequence[str] = ()
    ) -> "Trouble":
        """Return a finding of a rule that looks at more than one object."""
        return cls("", True, code, says, (), advice, about, why, objects)

    def locate(self, about: str, why: str, advice: str, objects: Sequence[str] = ()) -> "Trouble":
        """Return it as a finding. objects: empty for `about` alone."""
        says = self.says or self.words
        return self._replace(about=about, says=says, why=why, advice=advice, objects=objects or [about])

    @property
    def finding(self) -> Json:
        """A finding as JSON, in the words of `doctor`."""
        return {
            "code": self.code,
            "about": self.about,
            "seen": self.says,
            "why": self.why,
            "fix": self.advice,
            "objects": self.objects,
        }


FINE, WARN, BAD = 0, 1, 2
"""The levels of trouble: none, something to watch, something that does not work."""


def find_level(troubles: Sequence[Trouble]) -> int:
    """Return FINE, WARN or BAD."""
    if not troubles:  # nearly always
        return FINE
    return BAD if any(trouble.bad for trouble in troubles) else WARN


class Gap(NamedTuple):
    """What was not looked at, and so is neither well nor wrong.

    part: streams, consumers, origins (of mirrors, elsewhere), account (its limits), accounts (their imports)
    or servers. why: a sentence. is_chosen: whether a flag left it out, or the login may not know of it.
    """

    part: str
    why: str
    is_chosen: bool = False


class ReplicaState(NamedTuple):
    """A follower that is offline or behind. state: such as `not seen for 33s`. bad: see Trouble."""

    server: str
    state: str
    bad: bool

    @property
    def trouble(self) -> Trouble:
        """What is wrong with it."""
        code = "REPLICA_OFFLINE" if self.bad else "REPLICA_BEHIND"
        return Trouble(f"replica {self.server} {self.state}", self.bad, code)


def is_settled(created: str | None, now: datetime | str | None) -> bool:
    """Return whether a stream or consumer has had the time to find its replicas and origins."""
    return not created or compute_age(created, now) > YOUNG


def has_leader(info: Json) -> bool:
    """Return whether a stream or consumer has a leader; outside of a cluster it needs none."""
    group = info.get("cluster") or {}
    return bool(group.get("leader")) or not (group.get("raft_group") or group.get("replicas"))


def is_away(peer: Json, time_as_leader: int = 0) -> bool:
    """Return whether a member of a Raft group is away.

    Servers report one that died as offline only for a short time; afterwards it is just silent.
    time_as_leader: ns for which the reporting server has led.
    """
    return bool(peer.get("offline")) or (
        not peer.get("current") and _compute_silence(peer, time_as_leader) >= ABSENT
    )


def _compute_silence(peer: Json, time_as_leader: int) -> int:
    """Return for how many ns a leader has not heard from a member; an `active` of 0 means never."""
    return int(peer.get("active", 0)) or time_as_leader


def check_replicas(info: Json, now: datetime | str | None) -> Iterator[Trouble]:
    """Yield what is wrong with the followers of a stream or consumer."""
    for replica in find_lagging_replicas(info, now):
        yield replica.trouble


def find_lagging_replicas(info: Json, now: datetime | str | None) -> Iterator[ReplicaState]:
    """Yield the followers of a stream or consumer that are offline or behind."""
    group = info.get("cluster") or {}
    replicas = group.get("replicas")
    if not replicas:
        return  # the usual case; parsing times is what takes long
    # Only a leader knows how far its followers are.
    is_unknown = not is_settled(info.get("created"), now) or not has_leader(info)
    for peer in replicas:
        if peer.get("offline"):
            yield ReplicaState(peer["name"], "offline", True)
        elif not peer.get("current") and not peer.get("pending") and not is_unknown:
            time_as_leader = max(compute_age(group.get("leader_since"), now), 0)
            silence = _compute_silence(peer, time_as_leader)
            words = "outdated" if peer.get("active") else "not seen"
            if silence >= ABSENT:
                words = f"not seen for {format_exact_duration(truncate_to_seconds(silence))}"
            behind = f", {format_count(peer['lag'])} behind" if peer.get("lag") else ""
            yield ReplicaState(peer["name"], f"{words}{behind}", is_away(peer, time_as_leader))


def check_migration(info: Json, now: datetime | str | None) -> Iterator[Trouble]:
    """Yield that the servers, replicas or retention of a stream or consumer are being changed (ADR-62), if
    this began more than a minute ago, or reports an error."""
    desired = (info.get("cluster") or {}).get("desired") or {}
    status = desired.get("status") or {}
    age, error = compute_age(desired.get("created"), now), status.get("err")
    if age <= _MIGRATION and not error:
        return
    kind = str(status.get("type") or "")
    since = f"began {format_exact_duration(truncate_to_seconds(age))} ago and " if age > 0 else ""
    offline = ", ".join(str(peer["name"]) for peer in desired.get("replicas") or () if peer.get("offline"))
    says = f"its migration {since}has not ended: {format_migration(info)}"
    advice, verb = _MIGRATION_ADVICE.get(kind, ("see its servers", "info"))
    yield Trouble(
        f"migration stands still{f': {kind}' if kind else ''}",
        bool(error or offline),
        "MIGRATION_STALLED",
        says + (f"; error: {error}" if error else "") + (f"; {offline} is offline" if offline else ""),
        [_suggest_for_migration(info, verb)],
        advice,
    )


_MIGRATION_ADVICE: Mapping[str, tuple[str, str]] = {
    "meta": ("see whether the servers have a meta leader", "server report jetstream"),
    "membership": ("see which servers are away; the log of its leader says more", "server report jetstream"),
    "snapshot": ("see which servers are away; the log of its leader says more", "server report jetstream"),
    "catchup": ("wait until its new servers have what it holds, and see how far they are", "info"),
    "quorum": ("start the servers that are away, or cancel the migration", "cancel"),
    "blocked": ("wait for what has to move first, and see how far it is", "blocked"),
    "unavailable": ("see whether the server of its leader runs", "server list"),
}
"""What to do, by the type of a migration (nats-server: MigrationStatusType), and the verb that helps: one of
servers; info; cancel (of streams, and of consumers that gain replicas); blocked, which shows what has to move
first."""


def _suggest_for_migration(info: Json, verb: str) -> Suggestion:
    consumer = "stream_name" in info
    stream = str(info["stream_name"] if consumer else info["config"]["name"])
    if verb == "cancel":
        if consumer and list_absent_peers(info):
            return Suggestion("consumer cluster cancel-move", [stream, str(info["name"])])
        can_cancel = not consumer and info["cluster"]["desired"].get("origin")
        return Suggestion("stream cluster cancel-move", [stream]) if can_cancel else Suggestion("server list")
    if verb == "blocked":
        return Suggestion("stream info" if consumer else "consumer report", [stream])
    if verb == "info":
        names = [stream, str(info["name"])] if consumer else [stream]
        return Suggestion("consumer info" if consumer else "stream info", names)
    return Suggestion(verb)
