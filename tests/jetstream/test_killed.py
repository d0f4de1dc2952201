"""What is killed between two system calls leaves the old or the new, and the next run works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.errors import NotFound
from jsctl.jetstream.backup import target
from jsctl.jetstream.backup.account_files import open_account_backup
from jsctl.jetstream.backup.files import META, open_backup
from tests.support import js
from tests.support.killing import kill_points, print_table
from tests.support.run import Cli

pytestmark = pytest.mark.slow


def read_stream(path: Path) -> str:
    """What is there: "none", or the number of messages of a backup that is whole."""
    try:
        backup = open_backup(path)
    except NotFound:
        return "none"
    backup.verify()
    return str(backup.state["messages"])


def read_account(path: Path) -> str:
    """As `read_stream`, for all streams of an account."""
    try:
        account = open_account_backup(path)
    except NotFound:
        return "none"
    assert not account.broken and not account.missing
    for backup in account.backups:
        backup.verify()
    return " ".join(str(backup.state["messages"]) for backup in account.backups)


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """exchange: the file system can. twice: every other run is killed over what a killed run left."""
    if not exchange:
        monkeypatch.setattr(target, "exchange", lambda one, other: False)
    if kind == "in place":
        monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "b")
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    here = tmp_path / "here"
    here.mkdir()
    path = here / ("b.tgz" if kind == "tgz" else "b")
    verb = f"account backup {path}" if kind == "account" else f"stream backup S {path}"
    read = read_account if kind == "account" else read_stream
    is_folder = kind in ("empty folder", "in place")

    def put_back() -> None:
        target.remove_path(path)
        if is_folder:
            path.mkdir()
        if older:
            js.ask(url, "STREAM.PURGE.S", {})
            js.publish(url, "s.a")
            cli(verb, status=0)
        js.publish(url, "s.b")

    calls: list[str] = []
    outcomes: list[str] = []
    put_back()
    before, after = "1" if older else "none", str(js.info(url, "S")["state"]["messages"])
    for number, call in kill_points(
        lambda: cli(f"{verb} --force").status, here, {target: ["exchange"] if exchange else []}
    ):
        there = "none" if is_folder and not (path / META).exists() else read(path)
        calls.append(call)
        outcomes.append({before: "old", after: "new"}[there])
        if there == after or number % 2 or not twice:
            refused = kind == "in place" and there == after  # two steps could be told apart
            cli(f"{verb} --force", status=64 if refused else 0)
            after = after if refused else str(js.info(url, "S")["state"]["messages"])
            assert read(path) == after
            assert [entry.name for entry in here.iterdir()] == [path.name]
            put_back()
            after = str(js.info(url, "S")["state"]["messages"])
    assert read(path) == after
    assert [entry.name for entry in here.iterdir()] == [path.name]
    print_table(
        f"{kind}{', older' * older}{', 2 renames' * (not exchange)}{', twice' * twice}", calls, outcomes
    )


def test_two_backups_at_once_onto_one_target(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    for path, verb in ((tmp_path / "b", "stream backup S"), (tmp_path / "all", "account backup")):
        cli(f"{verb} {path}", status=0)
        with target.lock_target(path):
            refused = cli(f"{verb} {path} --force", status=1)
            assert refused.err.count("\n") <= 2 and f"another jsctl writes a backup to {path}" in refused.err
            cli(f"stream backup S {tmp_path}/other", status=0)
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
                    status = cli(f"stream backup S {path} --force").status
                    if status not in (0, 1):
                        break
            finally:
                os._exit(status)
        children.append(pid)
    statuses = [os.WEXITSTATUS(os.waitpid(pid, 0)[1]) for pid in children]
    assert set(statuses) <= {0, 1}, statuses
    assert read_stream(path) == "1"
    assert [entry.name for entry in path.parent.iterdir()] == ["b"]


def test_a_killed_change_of_a_context(cli: Cli) -> None:
    line = "context add C --description {0}"
    folder = cli.home / "nats" / "context"
    calls: list[str] = []
    outcomes: list[str] = []

    def put_back() -> None:
        cli("context rm C --force")
        cli("context add C --description old", status=0)

    put_back()
    for _, call in kill_points(lambda: cli(line.format("new")).status, cli.home, {}):
        calls.append(call)
        outcomes.append(json.loads((folder / "C.json").read_text())["description"])
        assert "C" in cli("context ls --names", status=0).out
        cli(line.format("new"), status=0)
        put_back()
    assert set(outcomes) <= {"old", "new"}
    print_table("context add", calls, outcomes)


@pytest.mark.parametrize("kind", ["b", "b.tgz", "all"])
def test_a_full_disk_leaves_the_older_backup(cli: Cli, url: str, tmp_path: Path, kind: str) -> None:
    """A limit on the size of files stands in for the disk."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a")
    path = tmp_path / kind
    verb = f"account backup {path}" if kind == "all" else f"stream backup S {path}"
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
