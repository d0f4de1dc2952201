"""The names that the verbs of backups had before: they work, are in no help, and warn on a terminal alone."""

from pathlib import Path

import pytest

from tests.support.run import Cli


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("stream backup ORDERS {0}", "backup stream"),
        ("s snapshot ORDERS {0}", "backup stream"),
        ("account backup {0}", "backup account"),
        ("backup {0}", "backup account"),
        ("backup --check {0}", "backup account"),
        ("backup {0} --check", "backup account"),
    ],
)
def test_backups(cli: Cli, mixed: str, tmp_path: Path, older: str, newer: str) -> None:
    assert "WARNING" not in cli(older.format(tmp_path / "b"), status=0).err
    shown = cli(older.format(tmp_path / "c"), tty=True, status=0).err
    assert shown.startswith("WARNING: ") and f'use "jsctl {newer}" instead' in " ".join(shown.split())
    assert (tmp_path / "c").exists()


def test_restores(cli: Cli, mixed: str, tmp_path: Path) -> None:
    cli(f"backup {tmp_path}/all", status=0)
    for older, newer in (
        (f"stream restore {tmp_path}/all/ORDERS", "backup restore stream"),
        (f"account restore {tmp_path}/all", "backup restore account"),
        (f"restore {tmp_path}/all", "backup restore account"),
    ):
        cli("stream rm ORDERS --force", status=0)
        shown = cli(older, tty=True, status=0).err
        assert f'use "jsctl {newer}" instead' in " ".join(shown.split())


def test_help(offline_cli: Cli) -> None:
    assert "backup" not in offline_cli("stream --help", status=0).out
    assert "validate" in offline_cli("backup --help", status=0).out
    assert "no such option" in offline_cli("backup --bogus x", status=64).err.lower()
    assert "Missing argument" in offline_cli("backup validate", status=64).err
