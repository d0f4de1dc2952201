"""An export's folder: whose it is, and what a killed run leaves."""

import json
from pathlib import Path

import pytest

from jsctl.errors import BadInput
from jsctl.spark.export.target import MARKER, Target

TABLES = ("streams", "replication")


def opened(path: Path, format: str = "parquet", kind: str = "reports") -> Target:
    return Target.open(path, kind, format, TABLES)


def write(target: Target, name: str = "part-1.parquet", tables: tuple[str, ...] = TABLES) -> None:
    with target.stage() as folder:
        for table in tables:
            file = folder / table / "date=2026-11-21" / name
            file.parent.mkdir(parents=True)
            file.write_text(table)
            (folder / table / "_SUCCESS").touch()


def files(path: Path) -> list[str]:
    return sorted(str(f.relative_to(path)) for f in path.rglob("*") if f.is_file())


def test_writes_land_whole_and_later_ones_append(tmp_path: Path) -> None:
    path = tmp_path / "a" / "export"
    write(opened(path))
    write(opened(path), "part-2.parquet", ("streams",))
    assert files(path) == [
        MARKER,
        "replication/date=2026-11-21/part-1.parquet",
        "streams/date=2026-11-21/part-1.parquet",
        "streams/date=2026-11-21/part-2.parquet",
    ]
    assert json.loads((path / MARKER).read_text()) == {
        "kind": "reports",
        "format": "parquet",
        "tables": list(TABLES),
    }
    assert sorted(child.name for child in path.iterdir()) == [MARKER, "replication", "streams"]


def test_a_failed_first_write_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "export"
    with pytest.raises(KeyboardInterrupt), opened(path).stage() as folder:
        (folder / "streams").mkdir()
        (folder / "streams" / "half.parquet").touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_failed_later_write_leaves_the_target_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "export"
    write(opened(path))
    before = files(path)
    with pytest.raises(RuntimeError), opened(path).stage() as folder:
        (folder / "streams").mkdir()
        (folder / "streams" / "half.parquet").touch()
        raise RuntimeError
    assert files(path) == before
    assert not (path / ".staging").exists()


def _killed(path: Path, complete: bool) -> None:
    folder = path / ".staging" / "dead"
    (folder / "streams" / "date=2026-11-22").mkdir(parents=True)
    (folder / "streams" / "date=2026-11-22" / "part-9.parquet").touch()
    (path / ".staging" / "dead.lock").touch()
    if complete:
        (folder / "complete").touch()


@pytest.mark.parametrize("complete", [True, False])
def test_what_a_killed_run_left_is_completed_or_undone(tmp_path: Path, complete: bool) -> None:
    path = tmp_path / "export"
    write(opened(path))
    _killed(path, complete)
    opened(path).recover()
    assert ("streams/date=2026-11-22/part-9.parquet" in files(path)) is complete
    assert not (path / ".staging").exists()


def test_a_run_that_is_alive_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "export"
    target = opened(path)
    with target.stage() as folder:
        (folder / "streams").mkdir()
        opened(path).recover()
        assert (folder / "streams").is_dir()


def test_killed_before_anything_was_written_the_folder_is_still_ours(tmp_path: Path) -> None:
    path = tmp_path / "export"
    _killed(path, False)
    write(opened(path))
    assert (path / MARKER).exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p.write_text("x"), "is a file"),
        (lambda p: (p / "photos").mkdir(parents=True), "exists and is not an export of jsctl"),
        (lambda p: write(opened(p, kind="stream")), "holds an export of stream"),
        (lambda p: write(opened(p, format="csv")), "holds csv, not parquet; use --format csv"),
    ],
)
def test_what_is_not_ours_is_never_written_to(tmp_path: Path, make, words: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "export"
    make(path)
    before = files(tmp_path)
    with pytest.raises(BadInput, match=words):
        opened(path)
    assert files(tmp_path) == before


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    write(opened(tmp_path))
    assert (tmp_path / MARKER).exists()
