"""`backup prune`: which backups go, and that no parent of one that is kept does."""

import hashlib
import json
import random
from pathlib import Path

import pytest

from jsctl.base.units import DAY, format_rfc3339, parse_time_ns
from jsctl.jetstream.backup.files import DATA, GONE, LINK_DATA, MANIFEST, META, open_backup, seal_manifest
from tests.support.archives import write_backup
from tests.support.run import Cli

NOON = parse_time_ns("2026-03-04T12:00:00Z")  #: a Wednesday


def write(path: Path, days: float, since: Path | None = None) -> Path:
    """A backup that was made so many days before."""
    write_backup(path)
    manifest = {
        "format": 1,
        "complete": True,
        "created": "x",
        "started": format_rfc3339(int(NOON - days * DAY)),
    }
    if since:
        (path / DATA).rename(path / LINK_DATA)
        (path / GONE).touch()
        manifest["since"] = {"path": since.name, "sha256": open_backup(since).digest}
        manifest["chain"] = {"messages": 5, "bytes": 1, "new": 5, "gone": 0}
        manifest["files"] = {
            name: {
                "bytes": len((path / name).read_bytes()),
                "sha256": hashlib.sha256((path / name).read_bytes()).hexdigest(),
            }
            for name in (LINK_DATA, GONE, META)
        }
    (path / MANIFEST).write_bytes(seal_manifest(manifest))
    return path


def list_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("2d", {"0", "1"}),
        ("3w", {"0", "3", "10"}),
        ("1d,2w", {"0", "3"}),
        ("100d", {"0", "1", "3", "10", "17"}),
    ],
)
def test_days_and_weeks(offline_cli: Cli, tmp_path: Path, keep: str, kept: set[str]) -> None:
    for days in ("0", "0.1", "1", "3", "10", "17"):
        write(tmp_path / days, float(days))
    had = list_names(tmp_path)
    line = f"backup prune {tmp_path} --keep {keep}"
    preview = offline_cli(f"{line} --dry-run --json", status=0).json
    assert offline_cli(line).status != 0  # nobody can be asked
    assert list_names(tmp_path) == had
    rows = offline_cli(f"{line} --force --json", status=0).json
    assert list_names(tmp_path) == kept
    assert {Path(row["path"]).name for row in rows if row["result"] == "kept"} == kept
    assert sorted(preview["removes"]) == sorted(str(tmp_path / name) for name in had - kept)
    assert not offline_cli(f"{line} --force", status=0).err
    assert offline_cli(f"{line} --dry-run --json", status=0).json["removes"] == []


def test_parents_in_use_stay(offline_cli: Cli, tmp_path: Path) -> None:
    """A property over random chains: whatever can be opened before can be opened after, if it is there."""
    chance = random.Random()
    paths: list[Path] = []
    for number in range(30):
        since = chance.choice(paths) if paths and chance.random() < 0.7 else None
        paths.append(write(tmp_path / f"b{number:02}", 30 - number, since))
    offline_cli(f"backup prune {tmp_path} --keep 3d,2w --force", status=0)
    left = [path for path in paths if path.exists()]
    assert paths[-1] in left and len(left) < len(paths)
    for path in left:
        open_backup(path)


@pytest.mark.parametrize("seed", range(12))
def test_parents_of_what_cannot_be_read_stay(offline_cli: Cli, tmp_path: Path, seed: int) -> None:
    """A link that is damaged at random is kept, or goes; if it is kept, so are those that it needs."""
    chance = random.Random(seed)
    first = write(tmp_path / "first", 40)
    second = write(tmp_path / "second", 39, first)
    link = write(tmp_path / "link", 38, second)
    write(tmp_path / "newest", 0)
    damaged = link / chance.choice((META, MANIFEST))
    content = bytearray(damaged.read_bytes())
    for _ in range(chance.randrange(1, 20)):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    damaged.write_bytes(content[: chance.choice((len(content), len(content) // 2))])
    result = offline_cli(f"backup prune {tmp_path} --keep 1d --force --json", status=0)
    assert (tmp_path / "newest").exists()
    if link.exists():
        assert first.exists()
        assert second.exists(), result.out
    assert not link.exists() or link.name in result.out


def test_the_newest_intact_one_is_kept(offline_cli: Cli, tmp_path: Path) -> None:
    for days in ("0", "0.1", "0.2", "1", "2"):
        write(tmp_path / days, float(days))
    for days in ("0", "1"):
        path = tmp_path / days / DATA
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    rows = offline_cli(f"backup prune {tmp_path} --keep 2d,1w --force --json", status=0).json
    assert list_names(tmp_path) == {"0", "0.1", "1", "2"}
    reasons = {Path(row["path"]).name: row["reason"] for row in rows}
    assert reasons["0"].startswith("it is damaged: ") and "newest of day 2026-03-04" in reasons["0.1"]
    assert "newest of day 2026-03-02" in reasons["2"], "a day with damaged ones alone does not count"


def test_what_is_unclear_is_kept(offline_cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "old", 9)
    write(tmp_path / "new", 1)
    write_backup(tmp_path / "plain")
    (write(tmp_path / "broken", 20) / MANIFEST).write_bytes(b"{")
    (tmp_path / "notes.txt").touch()
    rows = offline_cli(f"backup prune {tmp_path} --keep 1d --force --json", status=0).json
    assert list_names(tmp_path) == {"new", "plain", "broken", "notes.txt"}
    assert {Path(row["path"]).name: row["result"] for row in rows}["old"] == "removed"


def test_other_files_are_never_removed(offline_cli: Cli, tmp_path: Path) -> None:
    parent = write(tmp_path / "parent", 12)
    link = write(tmp_path / "link", 9, parent)
    write(tmp_path / "new", 1)
    (link / "notes.txt").write_text("mine")
    rows = offline_cli(f"backup prune {tmp_path} --keep 1d --force --json", status=0).json
    reasons = {Path(row["path"]).name: row["reason"] for row in rows}
    assert reasons["link"] == "it holds other files" and reasons["parent"] == "parent of link"
    assert (link / "notes.txt").read_text() == "mine" and parent.exists()


@pytest.mark.parametrize("keep", ["", "7", "0d", "7d,4x", "7d,7d", "-1d", "d"])
def test_refusals(offline_cli: Cli, tmp_path: Path, keep: str) -> None:
    write(tmp_path / "old", 9)
    outcome = offline_cli(["backup", "prune", str(tmp_path), "--keep", keep, "--force"], status=64)
    assert outcome.err.count("\n") == 1
    assert offline_cli(f"backup prune {tmp_path}/none --keep 1d --force", status=3).err.count("\n") == 1
    assert json.dumps(sorted(list_names(tmp_path))) == '["old"]'
