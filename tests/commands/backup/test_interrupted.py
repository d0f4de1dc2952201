"""Ctrl-C while backups are read, which takes minutes for large ones."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from jsctl.jetstream.backup.files import DATA, MANIFEST, META, seal_manifest
from tests.support.archives import write_backup
from tests.support.run import Cli
from tests.support.waiting import wait_for


def write_large(path: Path) -> Path:
    """Write a backup whose reading never ends in a test: a file with a hole. Returns its data."""
    path.parent.mkdir()
    write_backup(path)
    names = (DATA, META)
    sums = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in names}
    sizes = {name: (path / name).stat().st_size for name in names}
    manifest = {"format": 1, "complete": True, "created": "x", "started": "2026-03-04T12:00:00Z"}
    manifest["files"] = {name: {"bytes": sizes[name], "sha256": sums[name]} for name in names}
    (path / MANIFEST).write_bytes(seal_manifest(manifest))
    os.truncate(path / DATA, 1 << 38)
    return path / DATA


@pytest.mark.parametrize(
    "line",
    ["backup prune {} --keep 1d --force", "backup restore stream {}/B", "doctor --backups {}"],
)
def test_ctrl_c_ends_it_at_once(offline_cli: Cli, tmp_path: Path, line: str) -> None:
    data = write_large(tmp_path / "backups" / "B")
    process = offline_cli.start(line.format(tmp_path / "backups"))
    descriptors = Path(f"/proc/{process.pid}/fd")
    try:
        wait_for(lambda: any(_leads_to(link, data) for link in descriptors.iterdir()), "nothing is read")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=5)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err.strip()) == (130, "", "")
    assert data.exists()


def _leads_to(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except OSError:  # it was closed meanwhile
        return False
