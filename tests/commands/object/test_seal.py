"""`object seal`."""

from pathlib import Path

from tests.support.objects import put
from tests.support.run import Cli


def test_seal(files: Path, cli: Cli) -> None:
    put(cli, "a")
    assert "--force" in cli("object seal FILES", status=64).err
    assert "has been sealed" in cli("object seal FILES --force", status=0).out
    assert "sealed" in cli("object put FILES source --name b", status=1).err
    assert "already sealed" in cli("object seal FILES", terminal_error=True, status=0).err
