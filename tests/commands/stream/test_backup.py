"""stream backup and stream restore, on real servers."""

import json
import os
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from jsctl.jetstream.backup.files import DATA, MANIFEST, META
from jsctl.jetstream.backup.marks import MARK
from tests.support.js import ask, publish, publish_all, stream
from tests.support.run import Cli
from tests.support.stored import stored

pytestmark = pytest.mark.slow


@pytest.fixture
def orders(url: str) -> str:
    """A stream with gaps, headers, an empty message and a consumer that is half way."""
    stream(url, "ORDERS", "ORDERS.>", description="all [red]orders[/red]", metadata={"team": "a"})
    for number in range(12):
        publish(url, f"ORDERS.{number % 3}", b"" if number == 4 else os.urandom(40 * number))
    for sequence in (1, 5, 12):
        ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": sequence})
    config = {"durable_name": "NEW", "ack_policy": "explicit", "filter_subject": "ORDERS.1"}
    ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    return url


def test_round_trip(cli: Cli, orders: str, tmp_path: Path) -> None:
    before, had = ask(orders, "STREAM.INFO.ORDERS"), stored(orders, "ORDERS")
    outcome = cli(f"stream backup ORDERS {tmp_path}/b --json", status=0)
    assert outcome.json["messages"] == 9
    assert outcome.json["stored_bytes"] == (tmp_path / "b" / DATA).stat().st_size
    assert "Starting backup of Stream ORDERS with 9 messages" in outcome.err
    cli("stream rm ORDERS --force", status=0)

    restored = cli(f"stream restore {tmp_path}/b", status=0)
    assert "Starting restore of Stream ORDERS" in restored.err
    assert re.match(rf"Restored Stream ORDERS from {tmp_path}/b in \S+, .+/s, 9 messages\n", restored.out)
    after = ask(orders, "STREAM.INFO.ORDERS")
    assert after["config"] == before["config"]
    for key in ("messages", "first_seq", "first_ts", "last_seq", "num_deleted"):
        assert after["state"].get(key) == before["state"].get(key), key
    assert stored(orders, "ORDERS") == had
    assert ask(orders, "CONSUMER.INFO.ORDERS.NEW")["config"]["filter_subject"] == "ORDERS.1"


def test_what_is_left_out_is_asked(cli: Cli, orders: str, tmp_path: Path) -> None:
    outcome = cli("stream backup", answers=["ORDERS", f"{tmp_path}/b"], status=0)
    assert outcome.asked == ["Select a Stream", "Folder or .tgz file to write"]
    assert (tmp_path / "b" / MANIFEST).exists()
    assert cli("stream backup", status=64).err.splitlines()[-1].endswith("none can be picked")
    assert "TARGET" in cli("stream backup ORDERS", status=64).err


def test_the_folder(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"s snapshot ORDERS {tmp_path}/deep/b", status=0)
    folder = tmp_path / "deep" / "b"
    assert {entry.name for entry in folder.iterdir()} == {DATA, META, MANIFEST}
    assert folder.stat().st_mode & 0o777 == 0o700
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["complete"] is True
    assert [one["durable_name"] for one in manifest["consumers"]] == ["NEW"]
    assert set(json.loads((folder / META).read_text())) == {"config", "state"}


def test_without_consumers(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(
        f"stream backup ORDERS {tmp_path}/b --no-consumers --check --chunk-size 4KB --window-size 64KB",
        status=0,
    )
    cli("stream rm ORDERS --force", status=0)
    assert cli(f"stream restore {tmp_path}/b --json", status=0).json["state"]["consumer_count"] == 0


def test_many_chunks(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "BIG", "big")
    data = [os.urandom(50_000) for _ in range(60)]
    publish_all(url, (("big", one) for one in [*data, *data]))
    result = cli(f"stream backup BIG {tmp_path}/b --chunk-size 1KB --window-size 8KB --json", status=0).json
    assert result["chunks"] > 3000
    had = stored(url, "BIG")
    cli("stream rm BIG --force", status=0)
    cli(f"stream restore {tmp_path}/b", status=0)
    assert stored(url, "BIG") == had


def test_an_empty_stream(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "EMPTY", "empty")
    cli(f"stream backup EMPTY {tmp_path}/b", status=0)
    cli("stream rm EMPTY --force", status=0)
    assert cli(f"stream restore {tmp_path}/b --json", status=0).json["state"]["messages"] == 0


def test_memory_and_sealed_streams(cli: Cli, url: str, tmp_path: Path) -> None:
    stream(url, "MEM", "mem", storage="memory")
    publish(url, "mem", b"one", count=5)
    stream(url, "SHUT", "shut")
    publish(url, "shut", b"one", count=5)
    config = ask(url, "STREAM.INFO.SHUT")["config"]
    ask(url, "STREAM.UPDATE.SHUT", {**config, "sealed": True})
    for name in ("MEM", "SHUT"):
        had = stored(url, name)
        cli(f"stream backup {name} {tmp_path}/{name}", status=0)
        cli(f"stream rm {name} --force", status=0)
        info = cli(f"stream restore {tmp_path}/{name} --json", status=0).json
        assert MARK not in json.dumps(info)
        assert stored(url, name) == had
    assert ask(url, "STREAM.INFO.SHUT")["config"]["sealed"] is True


def test_another_name_and_configuration(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    (tmp_path / "new.yaml").write_text("max_age: 30d\nsubjects: [old.*]\ndescription: older\n")
    line = f"stream restore {tmp_path}/b --name OLD --config {tmp_path}/new.yaml"
    outcome = cli(line, status=0)
    assert "Starting restore of Stream OLD from the backup of Stream ORDERS" in outcome.err
    config = ask(orders, "STREAM.INFO.OLD")["config"]
    assert (config["subjects"], config["max_age"], config["description"]) == (
        ["old.*"],
        30 * 86400 * 10**9,
        "older",
    )
    assert config["metadata"]["team"] == "a"
    assert MARK not in config["metadata"]
    assert stored(orders, "OLD") == stored(orders, "ORDERS")


def test_older_form_and_one_file(cli: Cli, orders: str, tmp_path: Path) -> None:
    had = stored(orders, "ORDERS")
    cli(f"stream backup ORDERS {tmp_path}/ORDERS.tgz", status=0)
    assert [entry.name for entry in tmp_path.glob("ORDERS*")] == ["ORDERS.tgz"]
    with tarfile.open(tmp_path / "ORDERS.tgz") as tar:
        assert {Path(name).name for name in tar.getnames()} == {DATA, META, MANIFEST}
    cli("stream rm ORDERS --force", status=0)
    cli(f"str restore ORDERS {tmp_path}/ORDERS.tgz --no-progress", status=0)
    assert stored(orders, "ORDERS") == had
    cli(f"str restore OTHER {tmp_path}/ORDERS.tgz --subjects other", status=0)
    assert stored(orders, "OTHER") == had
    packed = (tmp_path / "ORDERS.tgz").read_bytes()
    (tmp_path / "cut.tgz").write_bytes(packed[: len(packed) - 900])
    refused = cli(f"stream restore {tmp_path}/cut.tgz --name CUT --subjects cut", status=64)
    assert "nothing was restored" in refused.err


def test_an_existing_target_is_asked_for(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    digest = (tmp_path / "b" / MANIFEST).read_bytes()
    refused = cli(f"stream backup ORDERS {tmp_path}/b", status=64)
    assert refused.err.count("\n") == 1 and "--force" in refused.err
    assert cli(f"stream backup ORDERS {tmp_path}/b", tty=True, answers=[False]).status == 0
    assert (tmp_path / "b" / MANIFEST).read_bytes() == digest
    publish(orders, "ORDERS.1", b"more")
    cli(f"stream backup ORDERS {tmp_path}/b", tty=True, answers=[True], status=0)
    assert (tmp_path / "b" / MANIFEST).read_bytes() != digest
    assert [entry.name for entry in tmp_path.glob("b*")] == ["b"]


def test_other_files_are_never_touched(cli: Cli, orders: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear")
    (tmp_path / "file").write_text("dear")
    for target in ("mine", "file"):
        refused = cli(f"stream backup ORDERS {tmp_path}/{target} --force", status=64)
        assert "choose another target" in refused.err
    assert (tmp_path / "mine" / "diary.txt").read_text() == "dear"
    assert (tmp_path / "file").read_text() == "dear"


def test_a_backup_that_fails_leaves_the_older_one(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    assert cli(f"stream backup NOPE {tmp_path}/b --force").status == 3
    assert cli(f"stream backup NOPE {tmp_path}/n").status == 3
    assert not (tmp_path / "n").exists()
    cli(f"stream restore {tmp_path}/b --name SAME --subjects same", status=0)


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
        (lambda folder: _flip(folder / META), "nothing was restored"),
        (lambda folder: (folder / META).unlink(), f"{META} is missing"),
        (lambda folder: (folder / MANIFEST).write_text("[]"), "nothing was restored"),
    ],
)
def test_a_harmed_backup_is_refused_without_a_server(
    cli: Cli, offline_cli: Cli, orders: str, tmp_path: Path, harm: Any, words: str
) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    harm(tmp_path / "b")
    # Were a server asked for anything, this would say that there is none.
    refused = offline_cli(f"stream restore {tmp_path}/b -s nats://127.0.0.1:1", status=64)
    assert words in refused.err and refused.err.count("\n") == 1
    assert refused.out == ""


@pytest.fixture
def foreign(cli: Cli, orders: str, tmp_path: Path) -> Path:
    """A folder as the `nats` tool makes it: two files, no digest."""
    cli(f"stream backup ORDERS {tmp_path}/mine", status=0)
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in (DATA, META):
        shutil.copy(tmp_path / "mine" / name, folder / name)
    return folder


def test_a_folder_of_the_nats_tool(cli: Cli, orders: str, foreign: Path) -> None:
    had = stored(orders, "ORDERS")
    outcome = cli(f"stream restore {foreign} --name B --subjects b", status=0)
    assert "has no digest" in outcome.err
    assert stored(orders, "B") == had


def test_a_cut_folder_of_the_nats_tool(cli: Cli, offline_cli: Cli, foreign: Path) -> None:
    _cut(foreign / DATA)
    refused = offline_cli(f"stream restore {foreign} -s nats://127.0.0.1:1", status=64)
    assert "damaged: it is truncated" in refused.err


def test_a_changed_folder_of_the_nats_tool_leaves_no_stream(cli: Cli, orders: str, foreign: Path) -> None:
    """Its form is whole; the server finds the fault when it has made the stream already."""
    data = bytearray((foreign / DATA).read_bytes())
    data[60] ^= 1
    (foreign / DATA).write_bytes(bytes(data))
    failed = cli(f"stream restore {foreign} --name B --subjects b", status=1)
    assert "10062" in failed.err
    assert cli("stream ls --names", status=0).out == "ORDERS\n"


def test_existing_stream(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    refused = cli(f"stream restore {tmp_path}/b --force", status=1)
    assert "stream ORDERS exists already" in refused.err
    assert ask(orders, "STREAM.INFO.ORDERS")["state"]["messages"] == 9
    overlap = cli(f"stream restore {tmp_path}/b --name OTHER", status=1)
    assert overlap.err.endswith("; jsctl stream restore --subjects gives it other subjects\n")
    cli(f"stream restore {tmp_path}/b --name OTHER --subjects other", status=0)


def test_what_an_unfinished_restore_left(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    had = stored(orders, "ORDERS")
    config = ask(orders, "STREAM.INFO.ORDERS")["config"]
    config["metadata"][MARK] = "restore 2026-01-01T00:00:00+00:00"
    ask(orders, "STREAM.UPDATE.ORDERS", config)
    ask(orders, "STREAM.PURGE.ORDERS", {"keep": 2})
    refused = cli(f"stream restore {tmp_path}/b", status=64)
    assert "unfinished restore left" in refused.err and "--force" in refused.err
    cli(f"stream restore {tmp_path}/b", tty=True, answers=[True], status=0)
    assert stored(orders, "ORDERS") == had


def test_limits_that_drop_messages_are_reported(cli: Cli, orders: str, tmp_path: Path) -> None:
    cli(f"stream backup ORDERS {tmp_path}/b", status=0)
    (tmp_path / "new.json").write_text('{"max_msgs": 4, "name": "FEW", "subjects": ["few"]}')
    outcome = cli(f"stream restore {tmp_path}/b --config {tmp_path}/new.json", status=0)
    assert "warning: Stream FEW differs from the backup: messages: 4 instead of 9" in outcome.err
    assert "max_msgs" in outcome.err


def test_bars_are_for_terminals(cli: Cli, orders: str, tmp_path: Path) -> None:
    shown = cli(f"stream backup ORDERS {tmp_path}/b", tty=True, status=0)
    assert "━" in shown.err
    assert "━" not in cli(f"stream backup ORDERS {tmp_path}/c --no-progress", tty=True, status=0).err
    assert "\x1b" not in cli(f"stream backup ORDERS {tmp_path}/d", status=0).err
