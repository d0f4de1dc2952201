"""What jsctl says that a change deletes is what it deletes: random streams, consumers and changes on a real
server, through the verbs.

30 cases a kind run every time; `--hypothesis-profile=thorough` tries 1,000 of each at random.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from tests.support.random_streams import (
    CONSUMERS,
    SUBJECTS,
    Op,
    Server,
    consumers,
    histories,
    streams,
    subject_filters,
)
from tests.support.run import Cli
from tests.support.waiting import wait_for

Json = dict[str, Any]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]  # of thousands of cases

RANDOM = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example costs 0.3 s: shrinking takes minutes
    report_multiple_bugs=False,
    database=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
_SAID = r"this (?:deletes|takes) (?:(up to|at least) )?(an unknown number of|[\d,]+) messages?"

outcomes: Counter[str] = Counter()


def parse_said(text: str) -> tuple[str, int]:
    """Return how exactly it is said, and how many messages."""
    match = re.search(_SAID, text)
    assert match, text
    if not match[2][0].isdigit():
        return "unknown", 0
    return match[1] or "exact", int(match[2].replace(",", ""))


def check(cli: Cli, server: Server, stream: str, line: str, forced: str = "--force") -> None:
    """Run a line that changes something, without and then with the permission to delete, and compare."""
    before = server.count(stream)
    first = cli(f"{line} {forced}")
    if first.status == 0:
        said = ("exact", 0)
    elif first.status == 64 and "--allow-data-loss permits" in first.err:
        said = parse_said(first.err)
        assert server.count(stream) == before, "nothing may happen before it is permitted"
        second = cli(f"{line} {forced} --allow-data-loss")
        assert second.status == 0, second
    else:
        event("refused")
        outcomes["refused"] += 1
        assert server.count(stream) == before, first
        return
    compare(server, stream, said, before)


def compare(server: Server, stream: str, said: tuple[str, int], before: int) -> None:
    """Compare what was said with what is lost. said: as `parse_said` returns it. before: how many messages
    there were."""
    precision, number = said
    lost = before - server.count(stream)
    kind = f"{precision}, {'some' if number else 'none'}"
    event(kind)
    outcomes[kind] += 1
    if precision == "exact" and server.has_taker():  # nobody tells what it has acknowledged
        assert lost <= number, f"said {number}, lost {lost} of {before}"
    elif precision == "exact":
        wait_for(
            lambda: before - server.count(stream) == number, f"said {number}, lost {lost} of {before}", 2
        )
    elif precision == "up to":
        assert lost <= number, f"said up to {number}, lost {lost} of {before}"
        outcomes["up to, and less"] += lost < number
    elif precision == "at least":
        assert lost >= number, f"said at least {number}, lost {lost} of {before}"


limits = st.fixed_dictionaries(
    {"description": st.just("d")},
    optional={
        "max_msgs": st.integers(1, 20),
        "max_bytes": st.sampled_from([100, 500, 1000, 3000]),
        "max_msgs_per_subject": st.integers(1, 5),
        "discard": st.sampled_from(["old", "new"]),
    },
)


def to_flags(config: Json) -> str:
    return " ".join(f"--{key.replace('_', '-')} {value}" for key, value in config.items())


@st.composite
def scenes(draw: st.DrawFn, *retentions: str, least: int = 0) -> tuple[Json, list[Op]]:
    stream = draw(streams(*retentions))
    return stream, draw(histories(queue=stream["retention"] == "workqueue", least=least))


@RANDOM
@given(scene=scenes(), change=limits)
def test_limits(cli: Cli, server: Server, scene: tuple[Json, list[Op]], change: Json) -> None:
    try:
        stream = server.make(*scene)
        check(cli, server, stream, f"stream edit {stream} {to_flags(change)}")
    finally:
        server.clear()


@RANDOM
@given(
    scene=scenes("interest", "interest", "interest", "workqueue", least=1),
    name=st.sampled_from([*CONSUMERS[:1] * 3, CONSUMERS[1]]),
    change=st.one_of(
        st.just("rm"),
        st.integers(1, 20).map(lambda sequence: f"reset --sequence {sequence}"),
        subject_filters.map(
            lambda filters: "edit " + (" ".join(f"--filter {each}" for each in filters) or "--filter ''")
        ),
    ),
)
def test_a_consumer(cli: Cli, server: Server, scene: tuple[Json, list[Op]], name: str, change: str) -> None:
    try:
        stream = server.make(*scene)
        verb, _, flags = change.partition(" ")
        check(cli, server, stream, f"consumer {verb} {stream} {name} {flags}")
    finally:
        server.clear()


_AHEAD = ("consumer", "A", {"ack_policy": "explicit", "max_deliver": -1, "filter_subject": "none"})
_NEEDED = {"ack_policy": "explicit", "max_deliver": 2, "filter_subject": "s.a.>"}


@example(  # a consumer ahead of the stream goes together with another
    scene=(
        {"subjects": ["s.>"], "retention": "interest", "storage": "memory"},
        [_AHEAD, ("consumer", "D", _NEEDED), ("reset", "A", 16), ("publish", "s.a.x", 3, 1)],
    ),
    retention="",
    change={"description": "d"},
    gone={"A", "D"},
    filters={},
    new=_NEEDED,
)
@RANDOM
@given(
    scene=scenes(),
    retention=st.sampled_from(["", "", "interest", "limits"]),
    change=limits,
    gone=st.sets(st.sampled_from(CONSUMERS)),
    filters=st.dictionaries(st.sampled_from(CONSUMERS), subject_filters),
    new=st.one_of(st.none(), consumers()),
)
def test_a_plan(
    cli: Cli,
    server: Server,
    tmp_path: Path,
    scene: tuple[Json, list[Op]],
    retention: str,
    change: Json,
    gone: set[str],
    filters: dict[str, tuple[str, ...]],
    new: Json | None,
) -> None:
    """A file changes the stream and several consumers, removes some, and creates one."""
    try:
        stream = server.make(*scene)
        live = {info["name"]: info["config"] for info in server.ask(f"CONSUMER.LIST.{stream}")["consumers"]}
        for name in gone & live.keys():
            labelled = {**live[name], "metadata": {"jsctl.label": "l"}}
            server.ask(
                f"CONSUMER.CREATE.{stream}.{name}"
                + (f".{labelled['filter_subject']}" if labelled.get("filter_subject") else ""),
                {"stream_name": stream, "config": labelled, "action": "update"},
            )
        declared: list[Json] = [
            {"name": name, "filter_subjects": list(filters[name])}
            for name in sorted(filters.keys() & live.keys() - gone)
        ]
        if new:
            declared.append({**new, "name": "NEW"})
        whole = {
            "name": stream,
            **change,
            **({"retention": retention} if retention else {}),
            "consumers": declared,
        }
        file = tmp_path / "streams.json"
        file.write_text(json.dumps({"label": "l", "streams": [whole]}))
        check(cli, server, stream, f"apply -f {file} --prune --take-ownership")
    finally:
        server.clear()


@RANDOM
@given(
    storage=st.sampled_from(["file", "memory"]),
    messages=st.lists(
        st.tuples(
            st.sampled_from(SUBJECTS),
            st.integers(2, 600),
            st.sampled_from(["", "", "", "30m", "5h", "never"]),
        ),
        max_size=12,
    ),
    allows=st.booleans(),
    age=st.one_of(st.none(), st.integers(1, 600)),
    change=limits,
    turns_on=st.booleans(),
)
def test_age_and_ttls(
    cli: Cli,
    server: Server,
    storage: str,
    messages: list[tuple[str, int, str]],
    allows: bool,
    age: int | None,
    change: Json,
    turns_on: bool,
) -> None:
    """Messages that a mirror or a restore has brought have old times, and TTLs that nobody looks at yet."""
    ended = {"30m": 30, "5h": 300}
    old = [(subject, at, ttl) for subject, at, ttl in messages if not allows or at < ended.get(ttl, 1000)]
    stream = {"subjects": ["s.>"], "storage": storage, "allow_msg_ttl": allows}
    try:
        name = server.restore({"name": "OLD", **stream}, sorted(old, key=lambda message: -message[1]))
        # Half a minute, so that none expires between saying and doing it.
        flags = [to_flags(change), f"--max-age {age}m30s" * bool(age), "--allow-msg-ttl" * turns_on]
        check(cli, server, name, f"stream edit {name} {' '.join(flags)}")
    finally:
        server.clear()


@RANDOM
@given(
    scene=scenes(),
    subject=st.sampled_from(["", *SUBJECTS, "s.>", "s.*", "s.*.x", "none"]),
    limit=st.one_of(
        st.just(""), st.integers(1, 20).map("--seq {}".format), st.integers(1, 20).map("--keep {}".format)
    ),
)
def test_a_purge(cli: Cli, server: Server, scene: tuple[Json, list[Op]], subject: str, limit: str) -> None:
    try:
        stream = server.make(*scene)
        before = server.count(stream)
        line = f"stream purge {stream} {f'--subject {subject}' if subject else ''} {limit}"
        (said,) = cli(f"{line} --dry-run --json", status=0).json["streams"]
        cli(f"{line} --force", status=0)
        compare(server, stream, ("exact", said["messages"]), before)
    finally:
        server.clear()


@RANDOM
@given(
    scene=scenes("workqueue", "workqueue", "interest", "limits"),
    verb=st.sampled_from(["add", "add", "apply", "edit"]),
    kind=st.sampled_from(["mirror", "source"]),
    subject=st.sampled_from(["", "", *SUBJECTS, "s.>", "s.*"]),
    start=st.sampled_from([0, 0, 3]),
)
def test_a_mirror_or_source(
    cli: Cli,
    server: Server,
    tmp_path: Path,
    scene: tuple[Json, list[Op]],
    verb: str,
    kind: str,
    subject: str,
    start: int,
) -> None:
    """A new copy takes messages out of a work queue."""
    try:
        stream = server.make(*scene)
        origin = {"name": stream, "filter_subject": subject, "opt_start_seq": start}
        origin = {key: value for key, value in origin.items() if value}
        written = f"{stream},{f'start={start},' * bool(start)}{f'filter={subject}' * bool(subject)}".rstrip(
            ","
        )
        if verb == "edit":
            server.ask("STREAM.CREATE.COPY", {"name": "COPY", "subjects": ["copy"]})
        line = f"stream add COPY --{kind} {written} --defaults"
        if verb == "edit":
            line = f"stream edit COPY --source {written} --force"
        if verb == "apply":
            file = tmp_path / "streams.json"
            keys = {"mirror": origin} if kind == "mirror" else {"sources": [origin]}
            file.write_text(json.dumps({"streams": [{"name": "COPY", **keys}]}))
            line = f"apply -f {file} --force"
        check(cli, server, stream, line, forced="")
    finally:
        server.clear()


@RANDOM
@given(
    old=st.lists(st.tuples(st.sampled_from("abc"), st.integers(2, 600)), max_size=6),
    values=st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=30)), max_size=12),
    history=st.integers(1, 8),
    change=st.fixed_dictionaries(
        {"description": st.just("d")},
        optional={
            "history": st.integers(1, 8),
            "max-bucket-size": st.sampled_from([100, 300, 1000]),
            "ttl": st.integers(2, 600).map("{}m30s".format),
        },
    ),
)
def test_a_bucket(
    cli: Cli,
    server: Server,
    old: list[tuple[str, int]],
    values: list[tuple[str, bytes]],
    history: int,
    change: Json,
) -> None:
    """old: keys, each with its age in minutes."""
    try:
        cli(f"kv add B --history {history}", status=0)
        config = server.ask("STREAM.INFO.KV_B")["config"]
        server.ask("STREAM.DELETE.KV_B")
        aged = sorted(old, key=lambda value: -value[1])
        server.restore(config, [(f"$KV.B.{key}", age, "") for key, age in aged])
        for key, value in values:
            server.publish(f"$KV.B.{key}", value)
        check(cli, server, "KV_B", f"kv edit B {to_flags(change)}")
    finally:
        server.clear()
