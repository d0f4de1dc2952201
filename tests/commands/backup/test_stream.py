"""`backup stream` on real servers."""

import json
import re
from pathlib import Path

import pytest

from jsctl.jetstream.backup.files import DATA, MANIFEST, META, open_backup
from tests.support import js
from tests.support.js import ask, publish
from tests.support.run import Cli
from tests.support.stored import stored


def test_round_trip(cli: Cli, mixed: str, tmp_path: Path) -> None:
    before, had = ask(mixed, "STREAM.INFO.ORDERS"), stored(mixed, "ORDERS")
    outcome = cli(f"backup stream ORDERS {tmp_path}/b --json", terminal_error=True, status=0)
    assert outcome.json["messages"] == 9
    assert outcome.json["stored_bytes"] == (tmp_path / "b" / DATA).stat().st_size
    assert 'Starting backup of Stream "ORDERS" with 9 messages' in outcome.err
    cli("stream rm ORDERS --force", status=0)

    restored = cli(f"backup restore stream {tmp_path}/b", terminal_error=True, status=0)
    assert 'Starting restore of Stream "ORDERS"' in restored.err
    assert re.match(r'Restored stream "ORDERS" in \d+s, .+/s, 9 messages\n', restored.out)
    after = ask(mixed, "STREAM.INFO.ORDERS")
    assert after["config"] == before["config"]
    for key in ("messages", "first_seq", "first_ts", "last_seq", "num_deleted"):
        assert after["state"].get(key) == before["state"].get(key), key
    assert stored(mixed, "ORDERS") == had
    assert ask(mixed, "CONSUMER.INFO.ORDERS.NEW")["config"]["filter_subject"] == "ORDERS.1"


def test_what_is_left_out_is_asked(cli: Cli, mixed: str, tmp_path: Path) -> None:
    outcome = cli("backup stream", answers=["ORDERS", f"{tmp_path}/b"], status=0)
    assert outcome.asked == ["Select a Stream", "Folder or .tgz file to write"]
    assert (tmp_path / "b" / MANIFEST).exists()
    assert cli("backup stream", status=64).err.splitlines()[-1].endswith("none can be picked")
    assert "TARGET" in cli("backup stream ORDERS", status=64).err


def test_the_folder(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/deep/b", status=0)
    folder = tmp_path / "deep" / "b"
    assert {entry.name for entry in folder.iterdir()} == {DATA, META, MANIFEST}
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["complete"] is True
    assert [one["durable_name"] for one in manifest["consumers"]] == ["NEW"]
    assert set(json.loads((folder / META).read_text())) == {"config", "state"}


def test_an_existing_target_is_asked_for(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    digest = (tmp_path / "b" / MANIFEST).read_bytes()
    refused = cli(f"backup stream ORDERS {tmp_path}/b", status=64)
    assert refused.err.count("\n") == 1 and "--overwrite" in refused.err
    assert cli(f"backup stream ORDERS {tmp_path}/b", tty=True, answers=[False]).status == 0
    assert (tmp_path / "b" / MANIFEST).read_bytes() == digest
    publish(mixed, "ORDERS.1", b"more")
    cli(f"backup stream ORDERS {tmp_path}/b", tty=True, answers=[True], status=0)
    assert (tmp_path / "b" / MANIFEST).read_bytes() != digest
    assert [entry.name for entry in tmp_path.glob("b*")] == ["b"]


@pytest.mark.parametrize("name", ["b", "b.tgz"])
def test_only_a_complete_backup_of_the_same_stream_is_replaced(
    name: str, cli: Cli, url: str, tmp_path: Path
) -> None:
    """So that cron has a line: nothing is asked, and nothing is on stderr."""
    for stream in ("S", "T"):
        js.stream(url, stream, stream)
    cli(f"backup stream S {tmp_path}/{name}", status=0)
    js.publish(url, "S")
    assert cli(f"backup stream S {tmp_path}/{name} --overwrite", status=0).err == ""
    refused = cli(f"backup stream T {tmp_path}/{name} --overwrite", status=64)
    assert f"{name} holds a backup of stream S; remove it" in refused.err
    backup = open_backup(tmp_path / name)
    assert (backup.stream, backup.state["messages"]) == ("S", 1)
    if name == "b":
        (tmp_path / "b" / DATA).unlink()
        assert "truncated; remove it" in cli(f"backup stream S {tmp_path}/b --overwrite", status=64).err


def test_other_files_are_never_touched(cli: Cli, mixed: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear")
    (tmp_path / "file").write_text("dear")
    for target in ("mine", "file"):
        refused = cli(f"backup stream ORDERS {tmp_path}/{target} --force", status=64)
        assert "choose another target" in refused.err
    assert (tmp_path / "mine" / "diary.txt").read_text() == "dear"
    assert (tmp_path / "file").read_text() == "dear"


def test_a_backup_that_fails_leaves_the_older_one(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    assert cli(f"backup stream NOPE {tmp_path}/b --force").status == 3
    assert cli(f"backup stream NOPE {tmp_path}/n").status == 3
    assert not (tmp_path / "n").exists()
    cli(f"backup restore stream {tmp_path}/b --name SAME --subjects same", status=0)


def test_bars_are_for_terminals(cli: Cli, mixed: str, tmp_path: Path) -> None:
    shown = cli(f"backup stream ORDERS {tmp_path}/b", tty=True, status=0)
    assert "━" in shown.err
    assert "━" not in cli(f"backup stream ORDERS {tmp_path}/c --no-progress", tty=True, status=0).err
    assert "\x1b" not in cli(f"backup stream ORDERS {tmp_path}/d", status=0).err
