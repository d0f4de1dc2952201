"""What killed processes leave in the folder for temporary files is removed by the next run."""

import os
import signal
import stat
import tempfile
from pathlib import Path

import pytest

from jsctl.base import posix
from jsctl.base.files import keep_folder, temporary_folder, write_atomically


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed_in(parent: Path) -> None:
    """Leave a folder as `kill -9` does."""
    pid = os.fork()
    if not pid:
        with temporary_folder("mine-") as folder:
            (folder / "key").write_text("secret")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert [file.read_text() for file in parent.rglob("key")] == ["secret"]


def test_leftover_folders_are_removed(parent: Path) -> None:
    killed_in(parent)
    with temporary_folder("mine-") as folder:
        assert list(parent.iterdir()) == [folder]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "in use").touch()
        with temporary_folder("mine-") as other:
            assert sorted(parent.iterdir()) == sorted([folder, other])
    assert not list(parent.iterdir())


def test_without_locks_no_folder_is_swept(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where nobody knows which of them is in use."""
    monkeypatch.setattr(posix, "fcntl", None)
    with temporary_folder("mine-") as folder:
        (folder / "in use").touch()
        with temporary_folder("mine-"):
            assert (folder / "in use").exists()


def test_what_is_kept_stays(parent: Path) -> None:
    with temporary_folder("mine-") as folder:
        (folder / "text").touch()
        keep_folder(folder)
    with temporary_folder("mine-"):
        assert (folder / "text").exists()
    assert list(folder.iterdir()) == [folder / "text"]


def test_what_is_not_ours_stays(parent: Path) -> None:
    (parent / "other").mkdir()
    (parent / "mine-link").symlink_to(parent / "other")
    (parent / "other" / "file").touch()
    with temporary_folder("mine-"):
        pass
    assert (parent / "other" / "file").exists()


def test_leftover_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = os.fork()
    if not pid:
        monkeypatch.setattr(os, "fsync", lambda handle: os.kill(os.getpid(), signal.SIGKILL))
        write_atomically(tmp_path / "a", "secret")
    os.waitpid(pid, 0)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["secret"]
    write_atomically(tmp_path / "b", "new")
    assert [file.name for file in tmp_path.iterdir()] == ["b"]
