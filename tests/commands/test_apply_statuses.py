"""The exit statuses of `diff`, `apply` and `edit`, as the manual's table says."""

import os
import re
import subprocess
import sys

import pytest

from jsctl.errors import ExitStatus
from tests.support import js
from tests.support.declared import LATE_REFUSAL, Files, Meanwhile
from tests.support.readme import MANUAL

SAME = "streams: [{name: S, subjects: s}]"
MORE = "streams: [{name: S, subjects: s, max_msgs: 100}]"
LESS = "streams: [{name: S, subjects: s, max_msgs: 2}]"
OTHER = "streams: [{name: S, subjects: s, storage: memory}]"
SURPLUS = "{label: l, streams: []}"
CASES = [
    # verb, text, flags, status
    ("diff", SAME, "", 0),
    ("apply", SAME, "--dry-run --exit-code", 0),
    ("apply", MORE, "--dry-run", 0),
    ("apply", SAME, "", 0),
    ("apply", MORE, "", 0),
    ("diff", OTHER, "", 1),
    ("apply", OTHER, "--dry-run", 1),
    ("apply", OTHER, "", 1),
    ("apply", OTHER, "--force --allow-data-loss", 1),
    ("diff", MORE, "", 2),
    ("diff", LESS, "", 2),
    ("apply", LESS, "--dry-run --exit-code", 2),
    ("diff", SAME, "--context GONE", 3),
    ("apply", "{context: GONE, streams: [{name: S, subjects: s}]}", "", 3),
    ("diff", SAME, "--server nats://127.0.0.1:1", 4),
    ("apply", SAME, "--server nats://127.0.0.1:1", 4),
    ("diff", "streams: [{nam: S}]", "", 64),
    ("diff", SAME, "--prune", 64),
    ("apply", "streams: [{nam: S}]", "", 64),
    ("apply", LESS, "", 64),
    ("apply", LESS, "--force", 64),
    ("apply", SURPLUS, "--prune", 64),
    ("apply", SURPLUS, "--prune --force", 64),
]


@pytest.fixture
def held(files: Files, url: str) -> Files:
    """A stream with 5 messages that a label declared."""
    files("apply", "{label: l, streams: [{name: S, subjects: s}]}", status=0)
    js.publish(url, "s", count=5)
    return files


@pytest.mark.parametrize(("verb", "text", "flags", "status"), CASES)
def test_status(held: Files, url: str, verb: str, text: str, flags: str, status: int) -> None:
    if "GONE" in flags or "GONE" in text:
        del held.cli.environ["NATS_URL"]
    text = text.replace("{name: S,", "{name: S, metadata: {jsctl.label: l},")
    held(verb, text, flags, status=status)
    state = js.info(url, "S")
    assert state["state"]["messages"] == 5
    if status:
        assert state["config"]["max_msgs"] == -1


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ("--max-msgs 100 --dry-run", 2),
        ("--max-msgs 100 --force", 0),
        ("--subjects other.> --subjects other.a --force", 1),
        ("--max-msgs 2 --force", 64),
        ("--no-such-flag", 64),
    ],
)
def test_status_of_edit(held: Files, url: str, flags: str, status: int) -> None:
    held.cli(f"stream edit S {flags}", status=status)
    assert js.info(url, "S")["state"]["messages"] == 5


def test_no_is_status_0(held: Files, url: str) -> None:
    held.path.write_text(LESS)
    held.cli(f"apply -f {held.path}", tty=True, answers=[False], status=0)
    held.cli("stream edit S --max-msgs 2", tty=True, answers=[False], status=0)
    assert js.info(url, "S")["state"]["messages"] == 5


def test_statuses_of_a_saved_plan(held: Files, url: str) -> None:
    plan = held.path.parent / "plan.json"
    held(
        "diff", LESS.replace("{name: S,", "{name: S, metadata: {jsctl.label: l},"), f"--out {plan}", status=2
    )
    for flags, status in (("--dry-run", 0), ("--dry-run --exit-code", 2), ("", 64), ("--force", 64)):
        held.cli(f"apply {plan} {flags}", status=status)
    js.publish(url, "s")
    for flags in ("--dry-run", "--force", "--force --allow-data-loss"):
        held.cli(f"apply {plan} {flags}", status=1)
    assert js.info(url, "S")["state"]["messages"] == 6
    js.ask(url, "STREAM.PURGE.S", {"keep": 5})
    held.cli(f"apply {plan} --allow-data-loss", status=0)
    held.cli(f"apply {plan} --allow-data-loss", status=1)
    plan.write_text("{}")
    held.cli(f"apply {plan}", status=64)


def test_a_failure_half_way_is_status_1(held: Files, url: str) -> None:
    """By what only the server knows."""
    text = f"streams: [{{name: A, subjects: a}}, {{name: B, sources: [A], {LATE_REFUSAL}}}]"
    outcome = held("apply", text, status=1)
    assert "failed" in outcome.out and "nothing was changed, 1 stream failed, 1 stream taken" in outcome.out
    statuses = [each["status"] for each in held("apply", text, "--json", status=1).json["applied"]]
    assert statuses == ["taken back", "failed"]


def test_what_somebody_else_did_is_status_1(held: Files, url: str) -> None:
    other = Meanwhile(
        lambda: js.ask(url, "STREAM.UPDATE.S", {"name": "S", "subjects": ["s"], "max_msgs": 50})
    )
    held.path.write_text(MORE)
    held.cli(f"apply -f {held.path}", tty=True, answers=[other], status=1)


def test_the_manual_names_these_statuses() -> None:
    section = (MANUAL / "apply.md").read_text().partition("## Statuses\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \|", section, re.MULTILINE)
    assert {int(row) for row in rows} == {case[-1] for case in CASES} <= set(ExitStatus)


INTERRUPTED = """
import asyncio, os, signal, sys
from jsctl.app import main
from jsctl.jetstream.declared import execute

async def send_and_interrupt(step, rules):
    if step.stream != "B":
        await asyncio.sleep(60)
    deed = await send(step, rules)
    os.kill(os.getpid(), signal.SIGINT)
    return deed

send, execute._send = execute._send, send_and_interrupt
sys.argv[0] = "jsctl"
main()
"""


def test_what_was_done_is_said_when_it_is_interrupted(files: Files, url: str) -> None:
    text = "streams: [{name: A, subjects: a}, {name: B, subjects: b}]"
    files("diff", text, status=2)
    line = [sys.executable, "-c", INTERRUPTED, *f"apply -f {files.path} --server {url}".split()]
    environ = {**os.environ, **files.cli.environ}
    ended = subprocess.run(line, check=False, capture_output=True, text=True, env=environ)
    assert ended.returncode == ExitStatus.INTERRUPTED, ended.stderr
    assert "1 of 2 were done, 1 interrupted; run apply again to continue" in ended.stderr
    assert "+ stream A" in files("diff", text, status=2).out
