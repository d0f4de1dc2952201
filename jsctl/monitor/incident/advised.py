"""What recorded advisories say of changes: exactly when, by the clock of a server, and who asked. No I/O."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import SECOND, parse_time_ns, pluralize
from jsctl.jetstream.api import Json
from jsctl.monitor.alerts.conditions import name_place
from jsctl.monitor.events import KINDS
from jsctl.monitor.incident.changes import API_ERRORS, INTERNAL, LOST, Change, show_time
from jsctl.monitor.incident.consumers import Level
from jsctl.monitor.report.advisories import (
    API_ERROR,
    API_REQUEST,
    CONNECTED,
    DISCONNECTED,
    LOGIN_REFUSED,
    is_ordinary_end,
    name_client,
)

_REQUEST = re.compile(
    r"API\.(STREAM|CONSUMER)\.((?:DURABLE\.|LEADER\.|MSG\.|PEER\.)?[A-Z]+)\.([^.]+)(?:\.([^.]+))?"
)
_LEVELS: Mapping[str, Level] = {
    **dict.fromkeys(
        ("max_deliver", "stream_quorum_lost", "consumer_quorum_lost", "server_out_of_space"), "bad"
    ),
    **dict.fromkeys(("server_removed", "api_limit_reached", "server_shutdown"), "bad"),
    **dict.fromkeys(
        ("terminated", "stream_batch_abandoned", "server_lame_duck", API_ERROR, LOGIN_REFUSED), "warning"
    ),
}
"""Of advisories that no round explains; others are notes."""

_SAYS = {
    "server_lame_duck": "began lame duck mode",
    "server_shutdown": "shut down",
    **dict.fromkeys(("stream_quorum_lost", "consumer_quorum_lost"), "has no majority of its servers"),
}
"""Of advisories whose title is no sentence about what they name."""

_NOISE = 0.05  #: seconds

_REQUESTED = "request"
_REQUESTS = {
    "CREATE": "a request to create or change it",
    "DURABLE.CREATE": "a request to create or change it",
    "UPDATE": "a request to change it",
    "DELETE": "a request to remove it",
    "MSG.DELETE": "a message was removed",
    "LEADER.STEPDOWN": "its leader was asked to step down",
    "META.LEADER.STEPDOWN": "the meta leader was asked to step down",
    "PEER.REMOVE": "a replica was removed",
    "PURGE": "was purged",
    "RESET": "was reset",
}
"""What requests asked for that no change between rounds shows; others are said by their subject."""
_CLIENTS = {CONNECTED: "connected", DISCONNECTED: "connection ended", LOGIN_REFUSED: "login refused"}
_ACTIONS = {"create": "was created", "delete": "was removed", "modify": "was changed"}

_INTERNAL = re.compile(r"JS_(MIRROR|SRC)_")
"""Names of consumers that servers make for copies, anew whenever these begin to read."""

_APPEARED, _GONE = frozenset({"appeared", "recreated"}), frozenset({"gone", "recreated"})
_CONFIGURED = frozenset({"configuration", "replicas", "migration"})
_SHOWN_BY: Mapping[str, frozenset[str]] = {
    "create": _APPEARED,
    "delete": _GONE,
    "modify": _CONFIGURED,
    "CREATE": _APPEARED | _CONFIGURED,
    "DURABLE.CREATE": _APPEARED | _CONFIGURED,
    "UPDATE": _CONFIGURED,
    "PAUSE": _CONFIGURED,
    "DELETE": _GONE,
    "PURGE": frozenset({"purged", "went back"}),
    "RESET": frozenset({"went back"}),
    "PEER.REMOVE": frozenset({"replicas", "leader changed"}),
    "LEADER.STEPDOWN": frozenset({"leader changed"}),
}
"""By an action or request, the kinds of changes between rounds in which it is seen."""


class Advised(NamedTuple):
    """An advisory of a place. at: ns since 1970 by the clock of `server`, which is a place if the server is
    not named. ahead: ns that this clock is ahead, as far as the delivery tells. after, until: of the rounds
    around it. name: of what it is about, as changes have it. shown_by: kinds of changes that show it, too.
    times: how often it was published, for what no change between rounds shows."""

    at: int
    ahead: int
    after: int
    until: int
    server: str
    context: str
    domain: str
    name: str
    kind: str
    says: str
    level: Level
    shown_by: frozenset[str]
    by: str
    times: int = 0


def parse_advised(entry: Json, context: str, domain: str, after: int, until: int) -> Advised:
    """Return a recorded advisory. after, until: of the rounds around it, ns since 1970."""
    kind, facts, count = str(entry["kind"]), entry["facts"], int(entry["count"])
    place = name_place(context, domain)
    stream, consumer = str(facts.get("stream") or ""), str(facts.get("consumer") or "")
    known = KINDS.get(f"io.nats.jetstream.advisory.v1.{kind}")
    title = known.title.lower() if known else kind.replace("_", " ")
    says, shown_by, by = _SAYS.get(kind, title), frozenset[str](), str(facts.get("by") or "")
    if request := _REQUEST.search(str(facts.get("subject") or "")):
        stream, consumer = request[3], request[4] if request[1] == "CONSUMER" and request[4] else ""
    level = _LEVELS.get(kind, "note")
    if kind == API_ERROR:
        title, says = API_ERRORS, f"{facts.get('error')}, on {facts.get('subject')}"
    elif kind == API_REQUEST:
        subject, title = str(facts.get("subject")), _REQUESTED
        verb = request[2] if request else subject.partition("API.")[2]
        says, shown_by = _REQUESTS.get(verb, subject), _SHOWN_BY.get(verb, frozenset())
        if removed := facts.get("purged"):
            title, says, level = "purged", f"was purged: {pluralize(removed, 'message')} removed", "bad"
    elif kind in (CONNECTED, DISCONNECTED, LOGIN_REFUSED):
        title, says = _CLIENTS[kind], ": ".join(filter(None, (_CLIENTS[kind], facts.get("reason"))))
        if kind == CONNECTED:
            level = "good"
        elif kind == DISCONNECTED and not is_ordinary_end(facts):
            level = "warning"
        elif kind == DISCONNECTED:
            title, says = "client gone", f"{says}; it did not connect again"
    elif kind.endswith("_action"):
        action = str(facts.get("action"))
        says, shown_by = _ACTIONS.get(action, f"{title}: {action}"), _SHOWN_BY.get(action, frozenset())
        if internal := _INTERNAL.match(consumer):
            title = INTERNAL
            says += f", by a server: a {'mirror' if internal[1] == 'MIRROR' else 'source'} reads through it"
    elif kind == "consumer_pause":
        is_paused = facts.get("paused") is True
        says = f"was paused until {show_time(facts.get('pause_until'))}" if is_paused else "was resumed"
        shown_by = _CONFIGURED
    elif kind.endswith("_leader_elected"):
        title, says, shown_by = (
            "leader changed",
            f"elected {facts.get('leader')}",
            _SHOWN_BY["LEADER.STEPDOWN"],
        )
    server, times = str(facts.get("server") or facts.get("leader") or ""), 0 if shown_by else count
    if kind == "domain_leader_elected":  # which names its leader by a hash
        server, says = "", "the meta group elected a leader"
    target = f"stream {stream}" if stream else f"server {server}" if server else ""
    if client := name_client(facts.get("user"), facts.get("client"), facts.get("host")):
        target = f"leaf node {client}" if facts.get("is_leaf") else f"client {client}"
    at, received = parse_time_ns(str(entry["at"])), parse_time_ns(str(entry["received"]))
    return Advised(
        at,
        at - received,
        after,
        until,
        server or place,
        context,
        domain,
        f"{place}: {f'consumer {stream} > {consumer}' if consumer else target}" if target else place,
        title,
        says + (f" ({count:,} times)" if count > max(1, times) else "") + (f", by {by}" if by else ""),
        level,
        shown_by,
        by,
        times,
    )


def estimate_skews(advised: Sequence[Advised]) -> dict[str, float]:
    """Return by server how many seconds its clock is ahead of ours, by the fastest message, as none is early;
    0 for less than what the way of a message may take."""
    ahead: dict[str, int] = {}
    for one in advised:
        ahead[one.server] = max(one.ahead, ahead.get(one.server, one.ahead))
    skews = {server: value / SECOND for server, value in ahead.items()}
    return {server: skew if abs(skew) >= _NOISE else 0.0 for server, skew in skews.items()}


def merge_advised(
    changes: Sequence[Change], advised: Sequence[Advised], skews: Mapping[str, float]
) -> list[Change]:
    """Return all changes in their order: a change that advisories tell of, too, has their time and who asked
    for it; other advisories are changes of their own. skews: seconds that clocks are ahead, by server, which
    are taken off: what several servers published is in order then."""
    used: set[int] = set()
    explained: set[tuple[str, int]] = set()
    by_name: dict[str, list[int]] = {}
    for number, one in enumerate(advised):
        by_name.setdefault(one.name, []).append(number)
    merged = []
    for change in changes:
        span = change.at - change.after
        told = [
            number
            for number in by_name.get(change.name, ())
            if change.kind in advised[number].shown_by
            and advised[number].until >= change.after  # what a round just missed, the next one shows
            and advised[number].after <= change.at + span
            and change.after < change.at
        ]
        used.update(told)
        told.sort(key=lambda number: _rate(change, advised[number], (change.kind, number) in explained))
        explained.update((change.kind, number) for number in told[:1])
        merged.append(_explain(change, [advised[number] for number in told], skews) if told else change)
    published = {_identify(advised[number]) for number in used}
    rest = [one for number, one in enumerate(advised) if number not in used]
    for one in _join_requests(rest):
        if _identify(one) not in published:
            published.add(_identify(one))  # the system account gets those of accounts, too
            at = _correct(one, skews)
            own = Change(
                at, min(one.after, at), one.kind, one.level, one.context, one.domain, one.name, one.says
            )
            merged.append(own._replace(server=one.server, server_at=one.at, times=one.times))
    return sorted(_join_removals(merged), key=_order)


_PARTS = ("server", "account", "stream", "consumer")


def _order(change: Change) -> tuple[int, bool, int, bool]:
    """Return what changes are sorted by; at one instant, what was asked for comes before what servers did for
    it, streams before their consumers, and clients that connect again last."""
    is_asked_for = change.kind in ("configuration", *_GONE)
    part = next((part for part, kind in enumerate(_PARTS) if f": {kind} " in change.name), 0)
    return change.at, change.kind == "connections", part, not is_asked_for


def _join_removals(changes: Sequence[Change]) -> Iterator[Change]:
    """Yield changes; consumers that were removed with their stream, which servers do just before, are gone
    when it is."""
    removed = {change.name: change for change in changes if change.kind in _GONE}
    for change in changes:
        place, is_consumer, name = change.name.partition(": consumer ")
        stream = removed.get(f"{place}: stream {name.partition(' > ')[0]}") if is_consumer else None
        is_removed = change.says.startswith(("is gone", _ACTIONS["delete"]))
        is_earlier = stream is not None and is_removed and stream.after <= change.at < stream.at
        yield change._replace(at=stream.at) if stream is not None and is_earlier else change


def _join_requests(advised: Sequence[Advised]) -> Iterator[Advised]:
    """Yield advisories; one of what was done has who asked for it, and the request is none of its own."""
    requests = [one for one in advised if one.kind == _REQUESTED]
    joined: set[int] = set()
    others = []
    for one in advised:
        if one.kind == _REQUESTED:
            continue
        found = [
            number
            for number, request in enumerate(requests)
            if number not in joined
            and (request.name, request.until) == (one.name, one.until)
            and request.shown_by & one.shown_by
        ]
        joined.update(found[:1])
        by = requests[found[0]].by if found else ""
        others.append(one._replace(says=f"{one.says}, by {by}") if by and not one.by else one)
    yield from others
    yield from (request for number, request in enumerate(requests) if number not in joined)


def _rate(change: Change, one: Advised, is_taken: bool) -> tuple[bool, bool, int]:
    """Return what advisories that may tell of a change are sorted by: what happens twice is published twice,
    and mostly between the rounds that show it. is_taken: whether it told of an earlier change of the kind."""
    return is_taken, one.after < change.after or one.until > change.at, one.at


def _explain(change: Change, told: Sequence[Advised], skews: Mapping[str, float]) -> Change:
    """Return a change with the time of the first advisory, and who asked for it."""
    first = told[0]
    at, by = _correct(first, skews), next((one.by for one in told if one.by), "")
    says = change.says.replace(LOST, "was purged") if change.kind == "purged" else change.says
    return change._replace(
        at=at,
        after=min(change.after, at),
        says=f"{says}, by {by}" if by else says,
        server=first.server,
        server_at=first.at,
    )


def _identify(one: Advised) -> tuple[int, str, str, str]:
    """Return what is the same of an advisory that several contexts received."""
    return one.at, one.kind, one.name.rpartition(": ")[2], one.says


def _correct(one: Advised, skews: Mapping[str, float]) -> int:
    return one.at - round(skews.get(one.server, 0) * SECOND)
