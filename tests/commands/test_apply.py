"""Declared streams on one server: create, change, refuse, prune, export, failures."""

import json
import re
from pathlib import Path

import pytest

from tests.support import js
from tests.support.declared import DAY, LATE_REASON, LATE_REFUSAL, Files, config
from tests.support.run import Cli

LOGS = """
vars: {keep: 1d}
streams:
  - for: {i: 0..9}
    name: LOGS_{{i}}
    subjects: ["logs.p{{i}}.>"]
    max_age: "{{keep}}"
    consumers:
      - {name: TAIL, deliver_subject: "out.logs.p{{i}}"}
"""


def test_partitions_in_ten_lines(files: Files) -> None:
    assert len(LOGS.strip().splitlines()) <= 10
    planned = files("diff", LOGS, status=2)
    assert "+ stream LOGS_3" in planned.out
    assert "    max_age: 1d0h0m0s" in planned.out
    assert "20 to create, 0 to change, 0 to remove" in planned.out
    assert files.cli("stream ls --json").json == []
    result = files("apply", LOGS, "--json", status=0).json
    assert [one["status"] for one in result["applied"]] == ["created"] * 20
    assert files.cli("stream ls --json").json == [f"LOGS_{i}" for i in range(10)]
    assert config(files.cli, "LOGS_7")["subjects"] == ["logs.p7.>"]
    assert config(files.cli, "LOGS_7")["max_age"] == DAY
    assert config(files.cli, "LOGS_7", "TAIL")["deliver_subject"] == "out.logs.p7"
    assert config(files.cli, "LOGS_7", "TAIL")["ack_policy"] == "none"


def test_a_second_run_changes_nothing(files: Files) -> None:
    files("apply", LOGS, status=0)
    again = files("apply", LOGS, status=0)
    assert again.out == "Nothing to change: 10 streams and 10 consumers are as declared\n"
    assert files("diff", LOGS, status=0).out == again.out
    assert files("diff", LOGS, "--json", status=0).json == {
        "changes": [],
        "unchanged": {"streams": 10, "consumers": 10, "buckets": 0},
        "warnings": [],
    }


def test_a_variable_of_the_command_line(files: Files) -> None:
    files("apply", LOGS, status=0)
    shown = files("diff", LOGS, "--var keep=2d --json", status=2).json["changes"]
    assert len(shown) == 10
    assert shown[0]["differences"] == [{"key": "max_age", "before": DAY, "after": 2 * DAY, "refused": None}]
    assert shown[0]["at"].endswith("streams.yaml:4")
    files("apply", LOGS, "--var keep=2d", status=0)
    assert config(files.cli, "LOGS_0")["max_age"] == 2 * DAY


ONE = "streams: [{name: S, subjects: s, max_msgs: 5, metadata: {team: a}}]"


def test_what_is_not_named_stays(files: Files, url: str) -> None:
    js.stream(url, "S", "s", max_bytes=1000, metadata={"other": "tool", "newer": "key"}, max_msg_size=10)
    files("apply", ONE, status=0)
    now = config(files.cli, "S")
    assert (now["max_msgs"], now["max_bytes"], now["max_msg_size"]) == (5, 1000, 10)
    assert {k: v for k, v in now["metadata"].items() if not k.startswith("_nats.")} == {
        "other": "tool",
        "newer": "key",
        "team": "a",
    }


def test_null_removes_a_key(files: Files) -> None:
    files("apply", ONE, status=0)
    files("apply", "streams: [{name: S, max_msgs: null, metadata: {team: null, a: b}}]", status=0)
    now = config(files.cli, "S")
    assert now["max_msgs"] == -1
    assert now["subjects"] == ["s"]
    assert "team" not in now["metadata"]
    assert now["metadata"]["a"] == "b"


def test_changes_ask_on_a_terminal(files: Files) -> None:
    created = files("apply", ONE, answers=[], status=0)
    assert created.asked == []
    other = ONE.replace("5", "6")
    left = files("apply", other, answers=[False], status=0)
    assert left.asked == ["Really change 1 stream"]
    assert "~ stream S" in left.err
    assert "    max_msgs: 5 -> 6" in left.err
    assert config(files.cli, "S")["max_msgs"] == 5
    assert files("apply", other, "--dry-run", status=0).out.count("max_msgs: 5 -> 6") == 1
    assert config(files.cli, "S")["max_msgs"] == 5
    assert files("apply", other, "--yes", answers=[], status=0).asked == []
    assert config(files.cli, "S")["max_msgs"] == 6


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("{name: S, subjects: s}", "{name: S, storage: memory}", "storage"),
        ("{name: S, subjects: s}", "{name: S, retention: work}", "retention"),
        ("{name: S, subjects: s, deny_delete: true}", "{name: S, deny_delete: false}", "deny_delete"),
        ("{name: S, mirror: A}", "{name: S, mirror: B}", "mirror.name"),
        ("{name: S, subjects: s, allow_msg_ttl: true}", "{name: S, allow_msg_ttl: false}", "allow_msg_ttl"),
        ("{name: S, subjects: s}", "{name: S, allow_msg_counter: true}", "allow_msg_counter"),
        (
            "{name: S, subjects: s, consumers: [{name: C}]}",
            "{name: S, consumers: [{name: C, ack_policy: all}]}",
            "ack_policy",
        ),
        (
            "{name: S, subjects: s, consumers: [{name: C}]}",
            "{name: S, consumers: [{name: C, deliver_policy: new}]}",
            "deliver_policy",
        ),
    ],
)
def test_what_the_server_refuses_is_reported_before(files: Files, before: str, after: str, key: str) -> None:
    files.cli("stream add A --subjects a --defaults", status=0)
    files("apply", f"streams: [{before}]", status=0)
    wanted = f"streams: [{after}, {{name: T, subjects: t}}]"
    shown = files("diff", wanted, status=1)
    assert f"    {key}: " in shown.out
    assert files("apply", wanted, "--dry-run", status=1).out == shown.out
    assert files("apply", wanted, "--dry-run --exit-code", status=1).out == shown.out
    assert re.search(rf"^    {key}: .*  \(.* \(10\d+\)\)$", shown.out, re.MULTILINE), shown.out
    refused = files("apply", wanted, "--force", status=1)
    assert "nothing was changed" in refused.err.splitlines()[-1]
    assert "T" not in files.cli("stream ls --json").json
    assert "remove and create them again" in refused.err and ".yaml:1: " in refused.err
    assert "refuse" not in files("diff", f"streams: [{before}]", status=0).out


def test_a_mirror_may_become_a_stream(files: Files) -> None:
    files("apply", "streams: [{name: A, subjects: a}, {name: M, mirror: A}]", status=0)
    files("apply", "streams: [{name: M, mirror: null, subjects: m}]", status=0)
    assert "mirror" not in config(files.cli, "M")


def test_origins_go_first_and_subjects_move(files: Files) -> None:
    circle = "streams: [{name: C, sources: [B]}, {name: B, mirror: A}, {name: A, subjects: [a, b]}]"
    assert [one["stream"] for one in files("apply", circle, "--json", status=0).json["applied"]] == [
        "C",
        "B",
        "A",
    ]
    moved = "streams: [{name: NEW, subjects: b}, {name: A, subjects: a}]"
    files("apply", moved, status=0)
    assert config(files.cli, "NEW")["subjects"] == ["b"]


def test_the_first_failure_stops(files: Files) -> None:
    others = "{name: B, mirror: A}, {name: C, subjects: c}"
    text = f"streams: [{{name: A, subjects: a.>, {LATE_REFUSAL}}}, {others}]"
    failed = files("apply", text, "--json", status=1)
    results = {one["stream"]: one["status"] for one in failed.json["applied"]}
    assert results == {"A": "failed", "B": "not done", "C": "taken back"}
    assert f"streams.yaml:1: stream A: {LATE_REASON}" in failed.err
    shown = files("apply", text, status=1).out
    assert "nothing was changed, 1 stream failed, 1 stream taken back, 1 stream not tried" in shown
    assert files.cli("stream ls --json", status=0).json == []


LABELLED = """
label: logs
streams:
  - {name: A, subjects: a, consumers: [{name: C}, {name: D}]}
  - {name: B, subjects: b}
"""


def test_prune(files: Files, url: str) -> None:
    files("apply", LABELLED, status=0)
    files("apply", "{label: other, streams: [{name: O, subjects: o}]}", status=0)
    files.cli("stream add MINE --subjects mine --defaults", status=0)
    files.cli("consumer add A MINE --pull --defaults", status=0)
    js.publish(url, "b", count=3)
    less = "{label: logs, streams: [{name: A, subjects: a, consumers: [{name: C}]}]}"
    assert "Nothing to change" in files("apply", less, status=0).out
    assert files("diff", less, "--prune", status=2).out.splitlines()[0].startswith("- consumer A > D")
    refused = files("apply", less, "--prune", status=64)
    assert "--force" in refused.err
    no = files("apply", less, "--prune", answers=[False], status=0)
    (questions,) = no.asked
    assert questions.startswith(
        "Really remove consumer A > D (0 messages pending, ack floor 0), stream B (3 mess"
    )
    assert files.cli("stream ls --json").json == ["A", "B", "MINE", "O"]
    files("apply", less, "--prune", answers=[True], status=0)
    assert files.cli("stream ls --json").json == ["A", "MINE", "O"]
    assert sorted(files.cli("consumer ls A --json").json) == ["C", "MINE"]
    files("apply", "{label: logs, streams: []}", "--prune --force", status=0)
    assert files.cli("stream ls --json").json == ["MINE", "O"]


def test_copies_carry_no_label(files: Files, tmp_path: Path) -> None:
    files("apply", LABELLED, status=0)
    for line in (
        "stream copy B COPY --subjects copy",
        "stream copy B DATA --subjects data --data",
        f"backup stream B {tmp_path}/b",
        f"backup restore stream {tmp_path}/b --name OLD --subjects old",
        "consumer copy A C MINE",
    ):
        files.cli(line, status=0)
    files("apply", "{label: logs, streams: [{name: A, subjects: a}]}", "--prune --force", status=0)
    assert files.cli("stream ls --json").json == ["A", "COPY", "DATA", "OLD"]
    assert files.cli("consumer ls A --json").json == ["MINE"]
    files.cli(f"backup restore stream {tmp_path}/b", status=0)
    assert files.cli("stream info B --json").json["config"]["metadata"]["jsctl.label"] == "logs"


def test_prune_needs_a_label(files: Files) -> None:
    assert "label" in files("apply", ONE, "--prune", status=64).err


def test_a_pruned_stream_leaves_its_subjects_to_another(files: Files) -> None:
    files("apply", "{label: l, streams: [{name: OLD, subjects: s}]}", status=0)
    files("apply", "{label: l, streams: [{name: NEW, subjects: s}]}", "--prune --force", status=0)
    assert files.cli("stream ls --json").json == ["NEW"]


def test_a_source_of_another_domain_is_not_a_difference(files: Files) -> None:
    text = "streams: [{name: S, sources: [A@elsewhere, 'B,start=5,filter=b.>']}]"
    files("apply", text, status=0)
    assert "Nothing to change: 1 stream is" in files("diff", text, status=0).out


@pytest.mark.parametrize(
    "consumer",
    [
        "{name: C, max_ack_pending: 0, ack_wait: 0, max_deliver: 0}",
        "{name: C, filter_subjects: s}",
        "{name: C, deliver_policy: by_start_time, opt_start_time: 2026-01-01T01:00:00.500+01:00}",
        "{name: C, sample_freq: 100, priority_policy: overflow, priority_groups: [g]}",
        "{name: C, durable_name: null, inactive_threshold: 1h}",
        "{name: C, pause_until: 2099-01-01T00:00:00Z}",
    ],
)
def test_consumers_have_no_phantom_differences(files: Files, consumer: str) -> None:
    text = f"streams: [{{name: S, subjects: s, consumers: [{consumer}]}}]"
    files("apply", text, status=0)
    assert "Nothing to change" in files("diff", text, status=0).out


def test_a_folder_and_json_and_stdin(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "streams"
    folder.mkdir()
    (folder / "a.yaml").write_text(
        "streams: [{name: A, subjects: a}]\n---\nstreams: [{name: B, subjects: b}]"
    )
    (folder / "c.json").write_text(json.dumps({"streams": [{"name": "C", "subjects": ["c"]}]}, indent="\t"))
    (folder / "notes.txt").write_text("nothing")
    cli(f"apply -f {folder}", status=0)
    cli("apply -f -", stdin="streams: [{name: D, subjects: d}]", status=0)
    assert cli("stream ls --json").json == ["A", "B", "C", "D"]
    (tmp_path / "empty").mkdir()
    assert "no .yaml" in cli(f"diff -f {tmp_path}/empty", status=3).err
    assert "cannot read" in cli(f"diff -f {tmp_path}/nope.yaml", status=64).err


def test_no_server(offline_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(ONE)
    for verb in ("apply", "diff"):
        failed = offline_cli(f"{verb} -f {path} --server nats://127.0.0.1:1", status=4)
        assert len(failed.err.splitlines()) == 1
