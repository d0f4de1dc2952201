"""`object info`."""

from pathlib import Path

from tests.support.objects import DATA, put
from tests.support.run import Cli


def test_info(files: Path, cli: Cli) -> None:
    stored = put(cli, "a", DATA, "--description", "D")
    assert cli("object info FILES a --json", status=0).json == stored
    shown = cli("object info FILES a", tty=True, status=0).out
    assert "Description: D" in shown and "Digest: SHA-256 " in shown
    assert "Bucket Name: FILES" in cli("object info FILES", status=0).out
    assert "not found" in cli("object info FILES b", status=3).err
