"""What is killed between two system calls leaves the old or the new, and the next run works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.base import posix
from jsctl.base.files import is_temporary
from jsctl.errors import NotFound
from jsctl.jetstream.backup import target
from jsctl.jetstream.backup.account_files import open_account_backup
from jsctl.jetstream.backup.files import META, open_backup
from jsctl.jetstream.backup.verification import verify_backup
from tests.support import js
from tests.support.killing import REQUESTS, kill_points, print_table
from tests.support.run import Cli

pytestmark = pytest.mark.long


def read_stream(path: Path) -> str:
    """What is there: "none", or the number of messages of a backup that is whole."""
    try:
        backup = open_backup(path)
    except NotFound:
        return "none"
    verify_backup(backup)
    return str(backup.state["messages"])


def read_account(path: Path) -> str:
    """As `read_stream`, for all streams of an account."""
    try:
        account = open_account_backup(path)
    except NotFound:
        return "none"
    assert not account.broken and not account.missing
    for backup in account.backups:
        verify_backup(backup)
    return " ".join(str(backup.state["messages"]) for backup in account.backups)


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("kind", "older", "exchange", "twice"),
    [
        ("folder", False, True, False),
        ("folder", True, True, False),
        ("folder", True, False, True),
        ("tgz", False, True, False),
        ("tgz", True, True, False),
        ("account", False, True, False),
        ("account", True, True, False),
        ("account", True, False, True),
        ("empty folder", False, True, False),
        ("in place", False, True, False),
    ],
)
def test_a_killed_backup(
    cli: Cli,
    url: str,
    tmp_path: Path,
    kind: str,
    older: bool,
    exchange: bool,
    twice: bool,
    step: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """exchange: the file system can. twice: every other run is killed over what a killed run left. step:
    every how many points; those of similar targets begin at others."""
    if not exchange:
        monkeypatch.setattr(posix, "exchange", lambda one, other: False)
    if kind == "in place":
        monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "b")
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    here = tmp_path / "here"
    here.mkdir()
    path = here / ("b.tgz" if kind == "tgz" else "b")
    verb = f"backup account {path}" if kind == "account" else f"backup stream S {path}"
    read = read_account if kind == "account" else read_stream
    is_folder = kind in ("empty folder", "in place")

    saved = tmp_path / f"saved{path.suffix}"
    if older:
        cli(verb.replace(str(path), str(saved)), status=0)
    js.publish(url, "s.b")

    def put_back() -> None:
        target.remove_path(path)
        if is_folder:
            path.mkdir()
        if older:
            shutil.copytree(saved, path) if saved.is_dir() else shutil.copy(saved, path)

    calls: list[str] = []
    outcomes: list[str] = []
    put_back()
    before, after = "1" if older else "none", "2"
    for number, call in kill_points(
        lambda: cli(f"{verb} --overwrite", status=0),
        here,
        {posix: ["exchange"] if exchange else []},
        step,
        first=min(step, 1 + older + twice),
    ):
        there = "none" if is_folder and not (path / META).exists() else read(path)
        calls.append(call)
        outcomes.append({before: "old", after: "new"}[there])
        if there == after or number % 2 or not twice:
            refused = kind == "in place" and there == after  # two steps could be told apart
            cli(f"{verb} --force", status=64 if refused else 0)
            assert read(path) == after
            assert [entry.name for entry in here.iterdir()] == [path.name]
            put_back()
    assert read(path) == after
    assert [entry.name for entry in here.iterdir()] == [path.name]
    print_table(
        f"{kind}{', older' * older}{', 2 renames' * (not exchange)}{', twice' * twice}", calls, outcomes
    )


def test_two_backups_at_once_onto_one_target(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    for path, verb in ((tmp_path / "b", "backup stream S"), (tmp_path / "all", "account backup")):
        cli(f"{verb} {path}", status=0)
        with target.lock_target(path):
            refused = cli(f"{verb} {path} --force", status=1)
            assert (
                refused.err.count("\n") <= 2 and f"another jsctl is writing a backup to {path}" in refused.err
            )
            cli(f"backup stream S {tmp_path}/other", status=0)
            target.remove_path(tmp_path / "other")
        cli(f"{verb} {path} --force", status=0)
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_dir()) == ["all", "b"]


def test_many_backups_at_once(cli: Cli, url: str, tmp_path: Path) -> None:
    """Each ends well or is refused, and at the end there is one whole backup and nothing else."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "b"
    children = []
    for _ in range(6):
        pid = os.fork()
        if not pid:
            status = 99
            try:
                for _ in range(5):
                    status = cli(f"backup stream S {path} --force").status
                    if status not in (0, 1):
                        break
            finally:
                os._exit(status)
        children.append(pid)
    statuses = [os.WEXITSTATUS(os.waitpid(pid, 0)[1]) for pid in children]
    assert set(statuses) <= {0, 1}, statuses
    assert read_stream(path) == "1"
    assert [entry.name for entry in path.parent.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("context add C --description new", ["C old"], ["C new"]),
        ("context add D", ["C old"], ["C old", "D "]),
        ("context copy C D", ["C old"], ["C old", "D old"]),
        ("context rm C --force", ["C old"], []),
        ("context edit C", ["C old"], ["C new"]),
        ("context select C", ["C old"], ["C old *"]),
    ],
)
def test_a_killed_change_of_a_context(
    cli: Cli, tmp_path: Path, line: str, old: list[str], new: list[str]
) -> None:
    folder = cli.home / "nats" / "context"
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i s/old/new/ $1\n")
    editor.chmod(0o755)
    cli.environ["EDITOR"] = str(editor)
    calls: list[str] = []
    outcomes: list[str] = []

    def contexts() -> list[str]:
        selected = cli.home / "nats" / "context.txt"
        mark = selected.read_text().strip() if selected.exists() else ""
        return [
            f"{file.stem} {json.loads(file.read_text())['description']}{' *' * (file.stem == mark)}"
            for file in sorted(folder.glob("*.json"))
        ]

    def put_back() -> None:
        shutil.rmtree(cli.home / "nats", ignore_errors=True)
        cli("context add C --description old", status=0)

    put_back()
    for _, call in kill_points(lambda: cli(line, status=0), cli.home, {}):
        calls.append(call)
        outcomes.append({str(old): "old", str(new): "new"}[str(contexts())])
        if outcomes[-1] == "old":
            cli(line, status=0)
        assert contexts() == new
        assert not [left for left in cli.home.rglob("*") if is_temporary(left.name)], call
        put_back()
    print_table(line, calls, outcomes)


def messages(url: str) -> dict[str, int]:
    """How many messages each stream has; what lists one at a time does not know yet is none of these."""
    infos = js.ask(url, "STREAM.LIST")["streams"] or []
    return {info["config"]["name"]: info["state"]["messages"] for info in infos}


@pytest.mark.slow
def test_a_killed_restore_and_copy(cli: Cli, url: str, tmp_path: Path) -> None:
    """Killed before each request, each finishes when it is run again."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", count=3)
    cli(f"backup stream S {tmp_path}/b", status=0)
    cli(f"backup account {tmp_path}/all", status=0)
    for line, name in (
        (f"backup restore stream {tmp_path}/b", "S"),
        (f"backup restore account {tmp_path}/all", "S"),
        ("stream copy S T --subjects t.>", "T"),
        ("stream copy S T --data --subjects t.>", "T"),
    ):
        calls: list[str] = []
        outcomes: list[str] = []

        def put_back(name: str = name) -> None:
            if name in messages(url):
                js.ask(url, f"STREAM.DELETE.{name}")

        put_back()
        for _, call in kill_points(lambda line=line: cli(line, status=0), tmp_path / "none", REQUESTS):  # type: ignore[misc]
            calls.append(call)
            there = messages(url)
            outcomes.append("new" if name in there else "old")
            again = cli(line)
            wanted = 0 if line == "stream copy S T --subjects t.>" else 3
            assert messages(url)[name] == wanted, (line, call, there, again)
            put_back()
        print_table(line.replace(str(tmp_path), "."), calls, outcomes)
        cli(line, status=0) if name not in messages(url) else None
    assert not [left for left in tmp_path.rglob("*") if is_temporary(left.name)]


@pytest.mark.slow
def test_a_killed_apply(cli: Cli, url: str, tmp_path: Path) -> None:
    declared = tmp_path / "streams.yaml"
    first = "{name: A, subjects: [a], consumers: [{name: C, ack_policy: explicit}]}"
    declared.write_text(f"label: l\nstreams: [{first}, {{name: B, subjects: [b]}}]")
    line = f"apply -f {declared} --force --prune"

    def put_back() -> None:
        for name in messages(url):
            js.ask(url, f"STREAM.DELETE.{name}")
        js.stream(url, "A", "old")
        js.stream(url, "GONE", "gone", metadata={"jsctl.label": "l"})

    calls: list[str] = []
    outcomes: list[str] = []
    put_back()
    for _, call in kill_points(lambda: cli(line, status=0), tmp_path / "none", REQUESTS):
        calls.append(call)
        left = cli(f"diff -f {declared} --prune").status
        outcomes.append("old" if left else "new")
        assert left in (0, 2)
        cli(line, status=0)
        cli(f"diff -f {declared} --prune", status=0)
        put_back()
    print_table("apply", calls, outcomes)


@pytest.mark.parametrize("kind", ["b", "b.tgz", "all"])
def test_a_full_disk_leaves_the_older_backup(cli: Cli, url: str, tmp_path: Path, kind: str) -> None:
    """A limit on the size of files stands in for the disk."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    path = tmp_path / kind
    verb = f"backup account {path}" if kind == "all" else f"backup stream S {path}"
    read = read_account if kind == "all" else read_stream
    cli(verb, status=0)
    js.publish(url, "s.b", os.urandom(300_000))
    limited = subprocess.run(
        ["bash", "-c", f"ulimit -f 100; exec {sys.executable} -m jsctl {verb} --force"],
        env={**os.environ, **cli.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 1
    assert "cannot write to" in limited.stdout + limited.stderr and "Traceback" not in limited.stderr
    assert read(path) == "1"
    assert not list(tmp_path.glob(".jsctl-*"))
