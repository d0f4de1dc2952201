"""`object status`."""

from pathlib import Path

from tests.support import js
from tests.support.objects import put
from tests.support.run import Cli


def test_status(files: Path, cli: Cli, url: str) -> None:
    put(cli, "a")
    js.publish(url, "$O.FILES.C.LEFT", b"x")
    (row,) = cli("object status FILES --json", status=0).json
    assert (row["bucket"], row["objects"], row["unfinished"]) == ("FILES", 1, 1)
    assert "FILES" in cli("object status", status=0).out
    assert "not found" in cli("object status NOPE", status=3).err
