"""`stream restore` on real servers."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from jsctl.jetstream.backup.files import DATA, MANIFEST, META
from jsctl.jetstream.backup.writer import BackupWriter
from jsctl.jetstream.state import MARK
from tests.support.js import ask, publish, publish_all, stream
from tests.support.run import Cli
from tests.support.stored import stored


def test_without_consumers(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(
        f"backup stream ORDERS {tmp_path}/b --no-consumers --check --chunk-size 4KB --window-size 64KB",
        status=0,
    )
    cli("stream rm ORDERS --force", status=0)
    assert cli(f"backup restore stream {tmp_path}/b --json", status=0).json["state"]["consumer_count"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("removed", [range(35, 40), range(1, 41)])
def test_messages_that_were_deleted_while_it_was_sent(
    cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removed: range
) -> None:
    """The state is of the beginning; what the archive holds is what a restore must have."""
    stream(url, "BIG", "big")
    publish_all(url, (("big", os.urandom(900_000)) for _ in range(40)))
    write, waiting = BackupWriter.write, [*removed]

    def delete_and_write(self: BackupWriter, data: bytes) -> None:
        while waiting:
            ask(url, "STREAM.MSG.DELETE.BIG", {"seq": waiting.pop()})
        write(self, data)

    monkeypatch.setattr(BackupWriter, "write", delete_and_write)
    cli(f"backup stream BIG {tmp_path}/b --chunk-size 64KB --window-size 128KB", status=0)
    cli("stream rm BIG --force", status=0)
    restored = cli(f"backup restore stream {tmp_path}/b --json", status=0)
    count = restored.json["state"]["messages"]
    assert 0 < count < 40
    assert f"BIG has {count} of 40 messages: the others were deleted" in restored.err


@pytest.mark.slow
def test_many_chunks(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "BIG", "big")
    data = [os.urandom(50_000) for _ in range(60)]
    publish_all(url, (("big", one) for one in [*data, *data]))
    result = cli(f"backup stream BIG {tmp_path}/b --chunk-size 1KB --window-size 8KB --json", status=0).json
    assert result["chunks"] > 3000
    had = stored(url, "BIG")
    cli("stream rm BIG --force", status=0)
    cli(f"backup restore stream {tmp_path}/b", status=0)
    assert stored(url, "BIG") == had


def test_an_empty_stream(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "EMPTY", "empty")
    cli(f"backup stream EMPTY {tmp_path}/b", status=0)
    cli("stream rm EMPTY --force", status=0)
    assert cli(f"backup restore stream {tmp_path}/b --json", status=0).json["state"]["messages"] == 0


def test_memory_and_sealed_streams(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "MEM", "mem", storage="memory")
    publish(url, "mem", b"one", count=5)
    stream(url, "SHUT", "shut")
    publish(url, "shut", b"one", count=5)
    config = ask(url, "STREAM.INFO.SHUT")["config"]
    ask(url, "STREAM.UPDATE.SHUT", {**config, "sealed": True})
    for name in ("MEM", "SHUT"):
        had = stored(url, name)
        cli(f"backup stream {name} {tmp_path}/{name}", status=0)
        cli(f"stream rm {name} --force", status=0)
        info = cli(f"backup restore stream {tmp_path}/{name} --json", status=0).json
        assert MARK not in json.dumps(info)
        assert stored(url, name) == had
    assert ask(url, "STREAM.INFO.SHUT")["config"]["sealed"] is True


def test_another_name_and_configuration(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    (tmp_path / "new.yaml").write_text("max_age: 30d\nsubjects: [old.*]\ndescription: older\n")
    line = f"backup restore stream {tmp_path}/b --name OLD --config {tmp_path}/new.yaml"
    outcome = cli(line, terminal_error=True, status=0)
    assert 'Starting restore of Stream "OLD" from the backup of Stream "ORDERS"' in outcome.err
    config = ask(mixed, "STREAM.INFO.OLD")["config"]
    assert (config["subjects"], config["max_age"], config["description"]) == (
        ["old.*"],
        30 * 86400 * 10**9,
        "older",
    )
    assert config["metadata"]["team"] == "a"
    assert MARK not in config["metadata"]
    assert stored(mixed, "OLD") == stored(mixed, "ORDERS")


def test_older_form_and_one_file(cli: Cli, mixed: str, tmp_path: Path) -> None:
    had = stored(mixed, "ORDERS")
    cli(f"backup stream ORDERS {tmp_path}/ORDERS.tgz", status=0)
    assert [entry.name for entry in tmp_path.glob("ORDERS*")] == ["ORDERS.tgz"]
    with tarfile.open(tmp_path / "ORDERS.tgz") as tar:
        assert {Path(name).name for name in tar.getnames()} == {DATA, META, MANIFEST}
    cli("stream rm ORDERS --force", status=0)
    cli(f"str restore ORDERS {tmp_path}/ORDERS.tgz --no-progress", status=0)
    assert stored(mixed, "ORDERS") == had
    cli(f"str restore OTHER {tmp_path}/ORDERS.tgz --subjects other", status=0)
    assert stored(mixed, "OTHER") == had
    packed = (tmp_path / "ORDERS.tgz").read_bytes()
    (tmp_path / "cut.tgz").write_bytes(packed[: len(packed) - 900])
    refused = cli(f"backup restore stream {tmp_path}/cut.tgz --name CUT --subjects cut", status=64)
    assert "use another backup" in refused.err


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda folder: _cut(folder / DATA), "is truncated"),
        (lambda folder: _flip(folder / DATA), "digest differs"),
        (lambda folder: (folder / DATA).unlink(), "is truncated"),
        (lambda folder: _flip(folder / META), "use another backup"),
        (lambda folder: (folder / META).unlink(), f"{META} is missing"),
        (lambda folder: (folder / MANIFEST).write_text("[]"), "use another backup"),
    ],
)
def test_a_damaged_backup_is_refused_without_a_server(
    cli: Cli, offline_cli: Cli, mixed: str, tmp_path: Path, harm: Any, words: str
) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    harm(tmp_path / "b")
    # Were a server asked for anything, this would say that there is none.
    refused = offline_cli(f"backup restore stream {tmp_path}/b -s nats://127.0.0.1:1", status=64)
    assert words in refused.err and refused.err.count("\n") == 1
    assert refused.out == ""


@pytest.fixture
def foreign(cli: Cli, mixed: str, tmp_path: Path) -> Path:
    """A folder as the `nats` tool makes it: two files, no digest."""
    cli(f"backup stream ORDERS {tmp_path}/mine", status=0)
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in (DATA, META):
        shutil.copy(tmp_path / "mine" / name, folder / name)
    return folder


def test_a_folder_of_the_nats_tool(cli: Cli, mixed: str, foreign: Path) -> None:
    had = stored(mixed, "ORDERS")
    outcome = cli(f"backup restore stream {foreign} --name B --subjects b", status=0)
    assert "has no digest" in outcome.err
    assert stored(mixed, "B") == had


def test_a_truncated_folder_of_the_nats_tool(cli: Cli, offline_cli: Cli, foreign: Path) -> None:
    _cut(foreign / DATA)
    refused = offline_cli(f"backup restore stream {foreign} -s nats://127.0.0.1:1", status=64)
    assert "damaged: it is truncated" in refused.err


def test_a_changed_folder_of_the_nats_tool(cli: Cli, mixed: str, foreign: Path) -> None:
    """Without a digest, each checksum and each entry is read before the server is asked for anything."""
    data = bytearray((foreign / DATA).read_bytes())
    data[60] ^= 1
    (foreign / DATA).write_bytes(bytes(data))
    failed = cli(f"backup restore stream {foreign} --name B --subjects b", status=64)
    assert failed.err.count("\n") == 1 and "is wrong" in failed.err
    assert cli("stream ls --names", status=0).out == "ORDERS\n"


def test_existing_stream(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    refused = cli(f"backup restore stream {tmp_path}/b --force", status=1)
    assert "stream ORDERS already exists" in refused.err
    assert ask(mixed, "STREAM.INFO.ORDERS")["state"]["messages"] == 9
    overlap = cli(f"backup restore stream {tmp_path}/b --name OTHER", status=1)
    assert overlap.err.endswith("; jsctl backup restore stream --subjects gives it other subjects\n")
    cli(f"backup restore stream {tmp_path}/b --name OTHER --subjects other", status=0)


@pytest.mark.slow
def test_what_an_unfinished_restore_left(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    had = stored(mixed, "ORDERS")
    config = ask(mixed, "STREAM.INFO.ORDERS")["config"]
    config["metadata"][MARK] = "restore 2026-01-01T00:00:00+00:00"
    ask(mixed, "STREAM.UPDATE.ORDERS", config)
    ask(mixed, "STREAM.PURGE.ORDERS", {"keep": 2})
    config["metadata"]["jsctl.protect"] = "true"
    ask(mixed, "STREAM.UPDATE.ORDERS", config)
    publish(mixed, "ORDERS.new")  # the backup lacks it
    protected = cli(f"backup restore stream {tmp_path}/b --force --allow-data-loss", status=1)
    assert "stream ORDERS is protected; --unprotect ORDERS permits it" in protected.err
    assert "none of what" in cli(f"backup restore stream {tmp_path}/b --unprotect NOPE", status=64).err
    ask(mixed, "STREAM.PURGE.ORDERS", {"keep": 0, "filter": "ORDERS.new"})
    refused = cli(f"backup restore stream {tmp_path}/b", status=64)
    assert "unfinished restore left" in refused.err and "--force" in refused.err
    cli(f"backup restore stream {tmp_path}/b", tty=True, answers=[True], status=0)
    assert stored(mixed, "ORDERS") == had


def test_limits_that_drop_messages_are_reported(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    (tmp_path / "new.json").write_text('{"max_msgs": 4, "name": "FEW", "subjects": ["few"]}')
    outcome = cli(f"backup restore stream {tmp_path}/b --config {tmp_path}/new.json", status=0)
    assert "warning: Stream FEW differs from the backup: messages: 4 instead of 9" in outcome.err
    assert "max_msgs" in outcome.err


@pytest.mark.slow
def test_from_a_pipe(cli: Cli, url: str, tmp_path: Path) -> None:
    """And from the file that is stdin; the copy of a pipe is removed, whatever happens."""
    stream(url, "ORDERS", "orders.>")
    publish(url, "orders.1", b"one", count=50)
    had = stored(url, "ORDERS")
    backup, scratch = tmp_path / "b.tgz", tmp_path / "scratch"
    scratch.mkdir()
    cli(f"backup stream ORDERS {backup}", status=0)

    def restore(form: str) -> "subprocess.CompletedProcess[str]":
        line = form.format(restore=f"{sys.executable} -m jsctl stream restore", file=backup)
        environ = {**os.environ, **cli.environ, "TMPDIR": str(scratch)}
        done = subprocess.run(
            ["bash", "-c", line], env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        assert not list(scratch.iterdir())
        return done

    for form in (
        "{restore} <(cat {file})",
        "cat {file} | {restore} /dev/stdin",
        "{restore} /dev/stdin <{file}",
    ):
        cli("stream rm ORDERS --force", status=0)
        done = restore(form)
        assert done.returncode == 0, (form, done)
        assert stored(url, "ORDERS") == had
    cli("stream rm ORDERS --force", status=0)
    for form in (
        "{restore} <(echo text)",
        "{restore} <(head -c 300 {file})",
        "{restore} <(true)",
        "{restore} /dev/null",
    ):
        done = restore(form)
        assert (done.returncode, done.stderr.count("\n")) == (64, 1), (form, done)
        assert str(scratch) not in done.stderr and cli("stream info ORDERS").status == 3


def test_a_cluster_that_is_none(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    line = f"backup restore stream {tmp_path}/b --name B --subjects b --cluster NOPE"
    assert "not placed in cluster NOPE" in cli(line, status=0).err
