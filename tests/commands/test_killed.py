"""What is killed before any of its requests, or of its calls that change files, leaves the old or the new
and runs again. Backups, contexts and apply are in tests/jetstream/backup/test_killed.py."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jsctl.base.files import is_temporary
from jsctl.commands.completing.name_cache import NameCache
from jsctl.errors import MissingDependency
from jsctl.monitor.report.recording import Recorder, Recording
from tests.support.killing import REQUESTS, kill_points, print_table
from tests.support.operator_site import Site
from tests.support.run import Cli

pytestmark = pytest.mark.long

FILES: Mapping[Any, Sequence[str]] = {io: ["open"]}


def kill_at_each(
    work: Callable[[], object],
    folder: Path,
    patched: Mapping[Any, Sequence[str]],
    check: Callable[[], str],
    put_back: Callable[[], object],
    what: str,
    least: int = 3,
    step: int = 1,
) -> None:
    """Kill at each point. check: looks at what is left, runs it again, and returns what was left."""
    calls: list[str] = []
    outcomes: list[str] = []
    put_back()
    for _, call in kill_points(work, folder, patched, step):
        calls.append(call)
        outcomes.append(check())
        put_back()
    print_table(what, calls, outcomes)
    assert len(calls) >= least, calls


@pytest.mark.slow
def test_object_put(cli: Cli, url: str, tmp_path: Path) -> None:
    cli("object add B", status=0)
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"o" * 300_000)
    new.write_bytes(os.urandom(300_000))
    line = f"object put B {new} --name x --force"

    def stored() -> bytes:
        cli(f"object get B x --output {tmp_path}/copy --force", status=0)
        return (tmp_path / "copy").read_bytes()

    def check() -> str:
        left = {old.read_bytes(): "old", new.read_bytes(): "new"}[stored()]
        cli(line, status=0)
        assert stored() == new.read_bytes()
        return left

    def put_back() -> None:
        cli(f"object put B {old} --name x --force", status=0)

    kill_at_each(lambda: cli(line, status=0), tmp_path / "none", REQUESTS, check, put_back, "object put")


@pytest.mark.parametrize("older", [False, True])
def test_object_get(cli: Cli, tmp_path: Path, older: bool) -> None:
    cli("object add B", status=0)
    (tmp_path / "x").write_bytes(b"new" * 100_000)
    cli(f"object put B {tmp_path}/x --name x", status=0)
    folder = tmp_path / "here"
    folder.mkdir()
    target = folder / "x"
    line = f"object get B x --output {target} --force"

    def put_back() -> None:
        target.unlink(missing_ok=True)
        if older:
            target.write_bytes(b"old")

    def check() -> str:
        data = target.read_bytes() if target.exists() else b""
        left = {b"": "none", b"old": "old", b"new" * 100_000: "new"}[data]
        cli(line, status=0)
        assert target.read_bytes() == b"new" * 100_000
        assert [path.name for path in folder.iterdir()] == ["x"]
        return left

    kill_at_each(lambda: cli(line, status=0), folder, FILES, check, put_back, "object get", 2)


def test_kv_import(cli: Cli, url: str, tmp_path: Path) -> None:
    cli("kv add A", status=0)
    for number in range(4):
        cli(f"kv put A k{number} v{number}", status=0)
    cli(f"kv export A --output {tmp_path}/a.jsonl", status=0)
    line = f"kv import B {tmp_path}/a.jsonl"

    def entries() -> list[str]:
        return sorted(cli("kv ls B", status=0).out.split())

    def put_back() -> None:
        cli("kv del B --force")
        cli("kv add B", status=0)

    def check() -> str:
        left = f"{sum(1 for word in entries() if word.startswith('k'))} of 4"
        cli(line, status=0)
        assert [cli(f"kv get B k{n} --raw", status=0).out.strip() for n in range(4)] == [
            "v0",
            "v1",
            "v2",
            "v3",
        ]
        return left

    kill_at_each(lambda: cli(line, status=0), tmp_path / "none", REQUESTS, check, put_back, "kv import", 1)


def test_a_recording(cli: Cli, url: str, tmp_path: Path) -> None:
    """Also while old rounds are removed."""
    folder = tmp_path / "here"
    folder.mkdir()
    path = folder / "rounds"
    cli(f"report --record {tmp_path}/first --count 1", status=0)
    document = Recording(tmp_path / "first").load(0)

    def put_back() -> None:
        path.unlink(missing_ok=True)
        recorder = Recorder(path)
        for at in (1.0, 2.0, 3.0):
            recorder.write(document, at)
        recorder.close()
        with path.open("ab") as file:  # what was killed before
            file.write(path.read_bytes()[:100])

    def check() -> str:
        times = list(Recording(path).times)
        assert times in ([1, 2, 3], [2.0, 3.0], [2, 3, 4]), times
        cli(f"report --record {path} --count 1", status=0)
        assert len(Recording(path).times) == len(times) + 1
        Recording(path).load(len(times))
        cli(f"report --replay {path} --json", status=0)
        assert [left.name for left in folder.iterdir()] == ["rounds"]
        return f"{len(times)} rounds"

    def work() -> None:
        recorder = Recorder(path, keep=2.0)
        recorder.write(document, 4.0)
        recorder.close()

    kill_at_each(work, folder, {**FILES, os: ["truncate"]}, check, put_back, "report --record")


def test_the_cache_of_completion(cli: Cli, tmp_path: Path) -> None:
    cache = NameCache(tmp_path / "jsctl" / "names" / "x.json")

    def put_back() -> None:
        cache.path.unlink(missing_ok=True)
        cache.store("stream", "", ["old"], 1)

    def check() -> str:
        left = list(cache.find("stream", "").names)
        assert left in (["old"], ["new"])
        cache.store("stream", "", ["new"], 2)
        assert cache.find("stream", "").names == ["new"]
        assert not [path for path in cache.path.parent.iterdir() if is_temporary(path.name)]
        return left[0]

    kill_at_each(
        lambda: cache.store("stream", "", ["new"], 2), tmp_path, {}, check, put_back, "cache of completion", 2
    )


@pytest.mark.slow
def test_the_class_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only files: what the JVM writes is some bytes here. One that is cut is never used."""
    from jsctl.spark.session import class_archive, make_class_archive

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(class_archive.SWITCH, raising=False)
    monkeypatch.setattr(make_class_archive, "_write", lambda draft: draft.write_bytes(b"classes" * 100))
    try:
        archive = class_archive.find()
    except MissingDependency:
        pytest.skip("there is no Java")
    other = archive.with_name("other.jsa")

    def put_back() -> None:
        for path in archive.parent.glob("*"):
            path.unlink()
        archive.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(b"of another version")
        archive.write_bytes(b"cut")

    def check() -> str:
        left = "whole" if class_archive.is_whole(archive) else "none"
        if left == "none":
            assert class_archive.read_options() == ""
        make_class_archive.make(archive)
        assert class_archive.is_whole(archive) and archive.read_bytes() == b"classes" * 100
        return left

    def work() -> None:
        assert make_class_archive.make(archive)

    kill_at_each(work, archive.parent, FILES, check, put_back, "class archive")


def test_accounts_that_are_pushed(tmp_path: Path) -> None:
    site = Site(tmp_path)
    cli = site.cli
    try:
        cli("auth account add A --operator ACME --defaults", status=0)
        push = "auth account push A --operator ACME"
        numbers = iter(range(1000))

        def put_back() -> None:
            cli(f"auth account edit A --operator ACME --subscriptions {100 + next(numbers)}", status=0)

        def check() -> str:
            cli(push, status=0)
            return "pushed again"

        kill_at_each(
            lambda: cli(push, status=0), tmp_path / "none", REQUESTS, check, put_back, "auth account push", 2
        )
    finally:
        site.server.stop()


@pytest.mark.slow
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.long)])
def test_a_network_that_is_started(tmp_path: Path, step: int) -> None:
    """`up` again or `down` works, and no server stays."""
    cli = Cli(tmp_path / "config")
    store = tmp_path / "networks"
    line = f"server network up single --store {store} --port 0 --timeout 20s"
    down = f"server network down {store} --force"

    def check() -> str:
        left = cli(f"server network status {store}").status
        again = cli(line)
        if again.status:
            cli(down)
            again = cli(line, status=0)
        cli(f"server network status {store}", status=0)
        cli(down, status=0)
        return f"status {left}"

    def put_back() -> None:
        cli(down)

    try:
        kill_at_each(
            lambda: cli(line, status=0), store, FILES, check, put_back, "server network up", step=step
        )
    finally:
        cli(down)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            words = path.read_bytes()
            assert b"nats-server" not in words or os.fsencode(store) not in words, words
