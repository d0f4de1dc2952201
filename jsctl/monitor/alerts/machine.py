"""The states of alerts, and how a round changes them: the same live and in a replay. No I/O.

`step` is a pure function of states and a round. An alert on a row is pending while its condition holds, and
fires once it has held for long enough. Without data what pends or fires stays as it is, and the alert of the
place is pending, and in the state `no data` once that has lasted for as long as a condition has to hold.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from jsctl.jetstream.find.expression import Condition
from jsctl.monitor.alerts.conditions import (
    Row,
    find_unknown_parts,
    format_value,
    list_holders,
    list_rows,
    name_place,
)
from jsctl.monitor.alerts.rules import AlertFile, Rule
from jsctl.monitor.report.places import Place

State = Literal["pending", "firing", "no data", "resolved"]


class Seen(NamedTuple):
    """A place in a round. outage: why it did not answer, empty if it did. unknown: why lists of it are not
    known, by list. silent: streams that did not answer. unseen: kinds of rows that were not asked for.
    has_servers: whether what servers do is known."""

    context: str
    domain: str
    outage: str = ""
    rows: Sequence[Row] = ()
    unknown: Mapping[str, str] = {}
    silent: frozenset[str] = frozenset()
    has_servers: bool = False
    unseen: frozenset[str] = frozenset()


class Standing(NamedTuple):
    """An alert on a row. alert: its name. since: when its condition began to hold; at: when it entered its
    state; ends: when what ends it began to hold, None while it does not. All in ns since 1970."""

    alert: str
    state: State
    since: int
    at: int
    name: str
    ends: int | None = None
    facts: Mapping[str, Any] = {}


class Event(NamedTuple):
    """A change of state. rule: whose state it is. key: of the standing. at, since: ns since 1970. was: the
    state before, empty for none. name: of the row. facts: what it is of, and the values that its condition
    looked at. why: what is not known, or that the row is gone. to: receivers that are told."""

    at: int
    rule: Rule
    state: State
    was: str
    name: str
    since: int
    key: str
    facts: Mapping[str, Any]
    why: str = ""
    is_silenced: bool = False
    to: Sequence[str] = ()


IDENTITY = ("context", "domain", "kind", "stream", "consumer", "origin", "server", "tier")
"""What says of what an event is; its other facts are values."""

States = Mapping[str, Standing]
"""The standings, by alert, place and row."""


def collect_seen(places: Sequence[Place]) -> list[Seen]:
    """Return what a round knows of its places."""
    seen = []
    for place in places:
        outage = place.find_outage()
        has_rows = not (outage and place.find_outage("servers"))
        tracker = place.tracker
        silent = {line.row.stream for line in tracker.streams or () if line.row.offline is not None}
        has_servers = any(line.statistics for line in tracker.servers or ())
        rows = [*list_rows(place)] if has_rows else []
        seen.append(
            Seen(
                *(place.context, place.where, outage, rows, find_unknown_parts(tracker)),
                *(frozenset(silent), has_servers),
                frozenset({"consumer"} if tracker.consumers is None else ()),
            )
        )
    return seen


def step(file: AlertFile, states: States, at: int, seen: Sequence[Seen]) -> tuple[States, list[Event]]:
    """Return the states after a round, and what changed. at: ns since 1970. States of places that the round
    is not about stay as they are; those of alerts that the file no longer has are dropped."""
    names = {rule.name for rule in file.rules}
    after = {key: old for key, old in states.items() if old.alert in names}
    events: list[Event] = []
    for rule in file.rules:
        for place in seen:
            if rule.scope.has_place(place.context, place.domain):
                events += _step_place(rule, after, at, place, seen)
    return after, [_address(file, event) for event in events]


def _step_place(
    rule: Rule, states: dict[str, Standing], at: int, place: Seen, all_seen: Sequence[Seen]
) -> Iterator[Event]:
    why = _find_gap(rule, place, all_seen)
    place_key = _build_key(rule, place, ())
    nameless_key = _build_key(rule, place._replace(domain=""), ())
    if nameless_key in states:  # the domain of a place that has not answered yet may be unknown
        states[place_key] = states.pop(nameless_key)
    title = name_place(place.context, place.domain)
    facts = {"context": place.context, "domain": place.domain, "kind": "place"}
    if (old := states.get(place_key)) is not None and not why:
        del states[place_key]
        yield _build_event(rule, at, "resolved", old, place_key)
    if why:
        since = at if old is None else old.since
        state: State = "no data" if at - since >= rule.hold else "pending"
        if rule.tells_no_data and (old is None or old.state == "pending" != state):
            states[place_key] = standing = Standing(rule.name, state, since, at, title, None, facts)
            was = "" if old is None else old.state
            yield _build_event(rule, at, state, standing, place_key, was=was, why=why)
        if place.outage or not place.rows:
            return
    present = set()
    for row in place.rows:
        if rule.scope.has_row(row.name, row.values):
            key = _build_key(rule, place, row.key)
            present.add(key)
            yield from _step_row(rule, states, at, row, key)
    if why:
        return
    prefix = _build_key(rule, place, ())[:-1]
    for key in [key for key in states if key.startswith(prefix + ", ") and key not in present]:
        old = states[key]
        if old.facts.get("stream") not in place.silent and old.facts.get("kind") not in place.unseen:
            del states[key]
            yield _build_event(rule, at, "resolved", old, key, why="it is gone")


def _step_row(rule: Rule, states: dict[str, Standing], at: int, row: Row, key: str) -> Iterator[Event]:
    old = states.get(key)
    try:
        holds = rule.when(row.values)
        ends = not holds if rule.until is None else rule.until(row.values)
    except ValueError:  # such as of a division by zero: it is not known
        return
    facts = _list_facts(rule, row)
    if old is None or old.state == "pending":
        if not holds:
            if old is not None:
                del states[key]
                yield _build_event(rule, at, "resolved", old, key, facts=facts)
            return
        since = at if old is None else old.since
        if at - since >= rule.hold:
            states[key] = Standing(rule.name, "firing", since, at, row.name, None, facts)
            yield _build_event(rule, at, "firing", states[key], key, was="" if old is None else "pending")
        elif old is None:
            states[key] = Standing(rule.name, "pending", at, at, row.name, None, facts)
            yield _build_event(rule, at, "pending", states[key], key, was="")
        return
    if not ends or holds:
        states[key] = old._replace(ends=None)
        return
    first = at if old.ends is None else old.ends
    if at - first >= rule.keep:
        del states[key]
        yield _build_event(rule, at, "resolved", old, key, facts=facts)
    else:
        states[key] = old._replace(ends=first)


def _find_gap(rule: Rule, place: Seen, all_seen: Sequence[Seen]) -> str:
    """Return why it is not known whether a rule holds for rows of a place, empty if it is."""
    holders = list_holders(rule.when)
    if place.outage and not (place.has_servers and all("servers" in lists for lists in holders)):
        # The system account has servers and no streams.
        return "" if place.has_servers and place.rows else place.outage
    if ["servers"] in holders and not any(one.has_servers for one in all_seen):
        return "what servers do is seen with a login of the system account alone"
    needed = {name for lists in holders for name in lists if name not in ("servers", "accounts")}
    needed |= {lists[0] for lists in holders if len(lists) == 1 and lists != ["servers"]}
    return next((place.unknown[name] for name in sorted(needed) if name in place.unknown), "")


def _address(file: AlertFile, event: Event) -> Event:
    """Return an event with who is told of it."""
    context, domain = event.facts["context"], event.facts["domain"]
    is_silenced = any(
        silence.covers(event.rule.name, event.at)
        and silence.scope.has_place(context, domain)
        and silence.scope.has_row(event.name, event.facts)
        for silence in file.silences
    )
    chosen = event.rule.to
    to = [
        receiver.name
        for receiver in ([] if is_silenced else file.receivers)
        if (chosen is None or receiver.name in chosen) and (receiver.includes_pending or _is_notable(event))
    ]
    return event._replace(is_silenced=is_silenced, to=to)


def _build_key(rule: Rule, place: Seen, row: Sequence[str]) -> str:
    return json.dumps([rule.name, place.context, place.domain, *row])


def _list_facts(rule: Rule, row: Row) -> dict[str, Any]:
    """Return what a row is, and the values that the condition looks at."""
    facts = {name: row.values[name] for name in IDENTITY if row.values.get(name) is not None}
    asked = _list_names(rule.when, rule.until)
    return facts | {name: format_value(row.values.get(name)) for name in asked if name not in facts}


def _list_names(*conditions: Condition | None) -> list[str]:
    return sorted({name for one in conditions if one is not None for name in one.names})


def _build_event(
    rule: Rule,
    at: int,
    state: State,
    standing: Standing,
    key: str,
    *,
    was: str | None = None,
    why: str = "",
    facts: Mapping[str, Any] | None = None,
) -> Event:
    return Event(
        at,
        rule,
        state,
        standing.state if was is None else was,
        standing.name,
        standing.since,
        key,
        standing.facts if facts is None else facts,
        why,
    )


def _is_notable(event: Event) -> bool:
    """Return whether people are told of an event: it fires or has no data, or that ended."""
    return event.state in ("firing", "no data") or (event.state == "resolved" and event.was != "pending")


def list_firing(states: States) -> list[Standing]:
    """Return those that fire."""
    return [one for one in states.values() if one.state == "firing"]


def encode_states(states: States) -> dict[str, Any]:
    """Return states as JSON."""
    return {
        key: {
            "alert": one.alert,
            "state": one.state,
            "since": one.since,
            "at": one.at,
            "name": one.name,
            "ends": one.ends,
            "facts": dict(one.facts),
        }
        for key, one in states.items()
    }


def parse_states(document: Mapping[str, Any]) -> States:
    """Return states from their JSON. Raises KeyError, TypeError, ValueError, AttributeError for another
    shape."""
    states = {}
    for key, one in document.items():
        if one["state"] not in ("pending", "firing", "no data"):
            raise ValueError(key)
        ends = one["ends"]
        states[key] = Standing(
            *(str(one["alert"]), one["state"], int(one["since"]), int(one["at"]), str(one["name"])),
            *(None if ends is None else int(ends), dict(one["facts"])),
        )
    return states
