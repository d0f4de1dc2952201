"""The states of alerts, over random rounds."""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.base.units import SECOND
from jsctl.errors import BadInput
from jsctl.monitor.alerts.conditions import _NULL_ROW, Row, parse_condition
from jsctl.monitor.alerts.machine import Event, Seen, States, encode_states, parse_states, step
from jsctl.monitor.alerts.messages import build_messages, build_payload
from jsctl.monitor.alerts.rules import AlertFile, Receiver, parse_alerts
from jsctl.monitor.report.figures.lists import FIGURES

NAMES = ("A", "B")
NUMBERS = sorted(
    {one.key for own in FIGURES.values() for one in own if one.kind.rstrip("?") in ("natural", "real", "ns")}
)
LATE = {"name": "late", "when": "lag > 50"}
NULL = {**_NULL_ROW, "context": "c", "domain": "d"}

lags = st.one_of(st.none(), st.sampled_from([0, 40, 60, 200]))
"""The lag of a consumer; None for one that does not exist."""

places = st.one_of(
    st.fixed_dictionaries(dict.fromkeys(NAMES, lags)),
    st.sampled_from(["silent", "unlisted"]),
)
"""A round: lags, or a place that does not answer or may not list consumers."""

rounds = st.lists(st.tuples(st.integers(1, 4), places), max_size=25)
"""Seconds since the round before, and what was seen."""

files = st.builds(
    lambda hold, until, keep, no_data: parse_alerts(
        json.dumps(
            {
                "alerts": [
                    {"name": "late", "when": "lag > 50", "for": hold, "no_data": no_data, **until, **keep}
                ]
            }
        ),
        "file",
    ),
    st.sampled_from(["0s", "2s", "5s"]),
    st.sampled_from([{}, {"until": "lag < 20"}]),
    st.sampled_from([{}, {"keep": "3s"}]),
    st.sampled_from(["alert", "ignore"]),
)


def see(what: Any) -> Seen:
    if what == "silent":
        return Seen("c", "d", outage="no answer")
    if what == "unlisted":
        return Seen("c", "d", rows=[Row(("stream", "S"), "s", NULL)], unknown={"consumers": "denied"})
    rows = [
        Row(("consumer", "S", name), name, {**NULL, "lag": lag, "kind": "consumer"})
        for name, lag in what.items()
        if lag is not None
    ]
    return Seen("c", "d", rows=rows)


def run(
    file: AlertFile, seen: Sequence[tuple[int, Any]], *, restart: bool = False
) -> tuple[States, list[Event]]:
    states: States = {}
    events: list[Event] = []
    at = 0
    for seconds, what in seen:
        at += seconds * SECOND
        if restart:
            states = parse_states(json.loads(json.dumps(encode_states(states))))
        states, new = step(file, states, at, [see(what)])
        events += new
    return states, events


@given(files, rounds)
def test_a_restart_repeats_and_loses_nothing(file: AlertFile, seen: Sequence[tuple[int, Any]]) -> None:
    assert run(file, seen) == run(file, seen, restart=True)


@given(files, rounds)
def test_states_follow_each_other(file: AlertFile, seen: Sequence[tuple[int, Any]]) -> None:
    states, events = run(file, seen)
    last: dict[str, str] = {}
    for event in events:
        assert event.was == last.get(event.key, ""), event
        last[event.key] = "" if event.state == "resolved" else event.state
    assert {key: state for key, state in last.items() if state} == {
        key: one.state for key, one in states.items()
    }


@given(files, rounds)
def test_an_alert_fires_once_its_condition_has_held(file: AlertFile, seen: Sequence[tuple[int, Any]]) -> None:
    """In every round that knows the row, for as long as the rule says; and it does fire then."""
    _, events = run(file, seen)
    [rule] = file.rules
    fired = {(event.at, event.key) for event in events if event.state == "firing"}
    for name in NAMES:
        key = json.dumps(["late", "c", "d", "consumer", "S", name])
        since: int | None = None
        firing, at, ends = False, 0, None
        for seconds, what in seen:
            at += seconds * SECOND
            if not isinstance(what, Mapping):
                continue
            lag = what[name]
            holds = lag is not None and lag > 50
            if firing:
                over = not holds and (lag is None or rule.until is None or lag < 20)
                ends = (at if ends is None else ends) if over else None
                if ends is not None and (at - ends >= rule.keep or lag is None):
                    firing, ends, since = False, None, None
                assert (at, key) not in fired
                continue
            since = (at if since is None else since) if holds else None
            firing = since is not None and at - since >= rule.hold
            assert ((at, key) in fired) == firing


@given(files, rounds)
def test_without_data_nothing_fires_and_nothing_is_resolved(
    file: AlertFile, seen: Sequence[tuple[int, Any]]
) -> None:
    """The alert of the place has no data once that has lasted for as long as a condition has to hold."""
    _, events = run(file, seen)
    [rule] = file.rules
    place = json.dumps(["late", "c", "d"])
    at, since, state = 0, -1, ""
    for seconds, what in seen:
        at += seconds * SECOND
        new = [(event.key, event.state) for event in events if event.at == at]
        if not isinstance(what, str):
            assert not {(place, "pending"), (place, "no data")} & {*new}
            assert ((place, "resolved") in new) == bool(state)
            since, state = -1, ""
        elif rule.tells_no_data:
            since = at if since < 0 else since
            expected = "no data" if at - since >= rule.hold else "pending"
            assert new == ([(place, expected)] if expected != state else [])
            state = expected
        else:
            assert not new


@given(files, rounds)
def test_each_message_has_an_id_of_its_own_which_a_restart_keeps(
    file: AlertFile, seen: Sequence[tuple[int, Any]]
) -> None:
    """Nobody is told of what only pends, unless that is wanted, but of all that fires and has no data."""
    receivers = [Receiver("one"), Receiver("two", includes_pending=True, by=("stream",))]
    file, told = file._replace(receivers=receivers), []
    for restart in (False, True):
        _, events = run(file, seen, restart=restart)
        rounds = [list(group) for _, group in itertools.groupby(events, lambda event: event.at)]
        assert all("two" in event.to for event in events)
        pending = [event for event in events if "pending" in (event.state, event.was)]
        assert [event for event in pending if "one" in event.to] == [
            event for event in pending if event.state in ("firing", "no data")
        ]
        told.append([m for one in receivers for group in rounds for m in build_messages(one, group)])
    assert told[0] == told[1] and len({message.id for message in told[0]}) == len(told[0])


def test_what_has_no_data_does_not_pend_again_with_a_longer_time() -> None:
    short, long = (parse_alerts(json.dumps({"alerts": [LATE | {"for": hold}]}), "f") for hold in ("1s", "9s"))
    states, events = run(short, [(1, "silent"), (1, "silent")])
    assert [event.state for event in events] == ["pending", "no data"]
    assert step(long, states, 3 * SECOND, [see("silent")]) == (states, [])


def test_alertmanager_knows_what_pends_without_data_by_the_labels_of_no_data() -> None:
    """It tells alerts apart by their labels."""
    text = {"alerts": [LATE | {"for": "1s"}], "receivers": [{"stderr": True, "pending": True}]}
    file = parse_alerts(json.dumps(text), "f")
    _, events = run(file, [(1, "silent"), (1, "silent"), (1, {})])
    receiver = file.receivers[0]._replace(form="alertmanager")
    alerts = [build_payload(receiver, [event])["alerts"][0] for event in events]
    assert [alert["status"] for alert in alerts] == ["firing", "firing", "resolved"]
    assert len({json.dumps(alert["labels"]) for alert in alerts}) == 1


@pytest.mark.parametrize(
    ("text", "names", "hold"),
    [
        ("lag > 1000 for 2m", {"lag"}, 120 * SECOND),
        ("drains_in > 1h", {"drains_in"}, 0),
        ("dead > 0", {"dead"}, 0),
        ("bytes > 1GB and file_rate >= 10MiB for 2s", {"bytes", "file_rate"}, 2 * SECOND),
        ("peer offline for 30s", {"peer_offline"}, 30 * SECOND),
        ("stream == 'a for 2m'", {"stream"}, 0),
        ("not no leader and idle_ns > 1h30m", {"no_leader", "idle_ns"}, 0),
    ],
)
def test_conditions(text: str, names: set[str], hold: int) -> None:
    timed = parse_condition(text)
    assert timed.condition.names == names and timed.hold == hold


def test_sizes_are_bytes() -> None:
    condition = parse_condition("bytes > 1GB").condition
    assert [condition({"bytes": size}) for size in (1 << 30, (1 << 30) + 1)] == [False, True]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("order", ["< 5", "<= 0", ">= 0", "> -1"])
def test_what_is_not_known_is_neither_less_nor_more(name: str, order: str) -> None:
    unit = "s" if name.endswith("_ns") else ""
    timed = parse_condition(f"{name} {order}{unit}")
    assert not timed.condition({name: None}) and timed.condition({name: 0})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lga > 1", "unknown name 'lga'; did you mean lag?"),
        ("lag > 5m", "lag is not a duration"),
        ("lag > 5MB", "lag is no number of bytes; leave out the unit"),
        ("idle_ns > 5MB", "idle_ns is no number of bytes"),
        ("drains_in > 3600", "drains_in is a duration"),
        ("lag > 5 for x", "not a duration"),
        ("lag > 5 for -2s", "for -2s is negative"),
        ("lag > 5 for", "cannot read the expression at 'for'"),
        ("lag", "is not a condition"),
        ("lag > 'x'", "\"lag > 'x'\" compares a number with text"),
        ("stream > 5", "'stream > 5' compares text with a number"),
        ("lag > 5 and trouble contains 5", "'trouble contains 5' compares a list of text with a number"),
        ("trouble == 'paused'", "compares a list of text with text"),
        ("stream not in [1, 2]", r"'stream in \[1, 2\]' compares text with a list of numbers"),
        ("no leader or lag matches 'x'", "compares a number with text"),
        ("lag > 5 and not stream", "'stream' is text, not a condition"),
        ("lag > 5 and (messages or no leader)", "'messages' is a number, not a condition"),
    ],
)
def test_wrong_conditions(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_condition(text)


_SIDES = ("stream", "trouble", "lag", "no leader", "drains_in", "'a'", "5", "[1]", "['a']", "nil", "true")


def test_a_condition_that_is_read_can_be_evaluated() -> None:
    values: dict[str, Any] = {"stream": "a", "trouble": ["a"], "lag": 5, "no_leader": True, "drains_in": 5}
    operators = ("==", "!=", "<", ">=", "in", "not in", "contains", "startsWith", "matches")
    outcomes = set[str]()
    for one, operator, other in itertools.product(_SIDES, operators, _SIDES):
        text = f"{one} {operator} {other}"
        try:
            condition = parse_condition(text).condition
        except ValueError:
            outcomes.add("refused")
            with pytest.raises(ValueError):
                parse_condition(f"lag > 1 and ({text})")  # also what is asked later
            continue
        condition(values)
        condition(dict.fromkeys(values))
        outcomes.add("read")
    assert outcomes == {"refused", "read"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "alerts:\n- {name: a, when: lag > 1}\n- {name: a, when: lag > 2}",
            "f:3: the alert 'a' is declared twice",
        ),
        ("alerts:\n- name: a\n  wen: lag > 1", "f:3: an alert has no key 'wen'; did you mean when?"),
        ("alerts:\n- name: a\n  when: lga > 1", "f:3: when: unknown name 'lga'"),
        ("alerts:\n- name: a\n  when: trouble contains 5", "f:3: when: 'trouble contains 5' compares a list"),
        ("alerts:\n- name: a\n  when: lag > 1 for 2s\n  for: 2s", "f:4: for is also at the end of when"),
        ("alerts:\n- name: a\n  when: lag > 1\n  to: b", "f:4: there is no receiver 'b'"),
        ("alerts: [{name: a, when: lag > 1}]\nsilences:\n- alert: b", "f:3: there is no alert 'b'"),
        ("alerts: [{name: a, when: lag > 1}]\nreceivers:\n- {name: b}", "f:3: a receiver needs one of"),
        ("alerts: [{name: a, when: lag > 1}]\nreceivers:\n- {webhook: x}", "f:3: webhook is not an address"),
        (
            "alerts: [{name: a, when: lag > 1}]\nreceivers:\n- stderr: true\n- stderr: true",
            "f:4: the receiver 'stderr' is declared twice",
        ),
        ("alerts: [{name: a, when: lag > 1}]\nreceivers:\n- stderr: false", "f:3: stderr must be true"),
        (
            "alerts: [{name: a, when: lag > 1}]\nsilences:\n- from: 2026-12-02\n  until: 2026-12-01",
            "f:4: the silence ends before it begins",
        ),
        ("alerts: []", "f:1: there is no alert"),
        ("alerts:\n- a", "f:2: an alert must be an object"),
    ],
)
def test_errors_name_file_and_line(text: str, words: str) -> None:
    with pytest.raises(BadInput, match="^" + words.replace("?", r"\?")):
        parse_alerts(text, "f")
