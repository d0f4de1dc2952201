"""`doctor --backups`: how old the newest good backup of each stream is."""

from pathlib import Path

from jsctl.jetstream.backup.files import DATA
from tests.support import js
from tests.support.js import publish
from tests.support.run import Cli


def test_the_newest_good_one(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "W", "w.>")
    publish(url, "w.1", count=3)
    for name in ("old", "new"):
        cli(f"backup stream W {tmp_path}/{name}", status=0)
    cli(f"backup account {tmp_path}/all", status=0)
    line = f"doctor --backups {tmp_path} --json"
    [row] = cli(line, status=0).json
    assert (row["stream"], row["path"], row["result"]) == ("W", f"{tmp_path}/all/W", "ok")
    assert 0 <= row["age_ns"] < 60 * 10**9
    [row] = cli(f"{line} --max-backup-age 1ns", status=1).json
    assert row["result"] == "bad" and "older than" in row["reasons"][0]
    for name in ("all/W", "new"):
        (tmp_path / name / DATA).write_bytes(b"x")
    [row] = cli(line, status=1).json
    assert (row["path"], len(row["reasons"])) == (f"{tmp_path}/old", 2)
    (tmp_path / "old" / DATA).unlink()
    rows = cli(line, status=1).json
    assert rows[0]["path"] is None and "no good backup" in rows[0]["reasons"]
    assert "no good backup" in cli(f"doctor --backups {tmp_path}", status=1).out


def test_a_part_of_several_chains_is_named_once(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "W", "w.>")
    cli(f"backup stream W {tmp_path}/1", status=0)
    for name in ("2", "3"):
        cli(f"backup stream W {tmp_path}/{name} --since {tmp_path}/1", status=0)
    (tmp_path / "1" / DATA).write_bytes(b"x")
    [row] = cli(f"doctor --backups {tmp_path} --json", status=1).json
    assert len(row["reasons"]) == 2 and "no good backup" in row["reasons"]


def test_refusals(cli: Cli, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        assert cli(f"doctor --backups {folder}", status=3).err.count("\n") == 1
    assert "--backups is empty" in cli(["doctor", "--backups", ""], status=64).err
    assert "requires --backups" in cli("doctor --max-backup-age 1h", status=64).err
