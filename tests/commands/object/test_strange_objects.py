"""Objects with names and descriptions that no client writes."""

from pathlib import Path

import pytest

from tests.support.objects import DATA, put, store_info
from tests.support.run import Cli

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/x/../../out", "a/b", "-f", " ", "é\u0301", "a\x1b[2Jb", "..", "."]
)
def test_hostile_names(name: str, files: Path, cli: Cli) -> None:
    put(cli, name)
    assert [one["name"] for one in cli("object ls FILES --json", status=0).json] == [name]
    assert "\x1b" not in cli("object ls FILES", tty=True, status=0).out
    cli(["object", "get", "FILES", "-O", "safe", "--", name], status=0)
    assert (files / "safe").read_bytes() == DATA
    (files / "safe").unlink()
    outside = set(files.parent.rglob("*")) - set(files.rglob("*"))
    cli(["object", "get", "FILES", "--", name])
    cli("object sync FILES . --down", status=0)
    assert set(files.parent.rglob("*")) - set(files.rglob("*")) == outside
    cli(["object", "rm", "FILES", "--force", "--", name], status=0)
    assert cli("object ls FILES --json", status=0).json == []


def test_descriptions_that_no_client_writes(files: Path, cli: Cli, url: str) -> None:
    for record in ({"size": "x"}, {"name": "other"}, {"nuid": "a b"}, {"headers": 7}):
        store_info(url, "a", **record)
        for verb in ("get", "info", "rm --force"):
            outcome = cli(f"object {verb} FILES a", status=1)
            assert "damaged" in outcome.err and len(outcome.err.splitlines()) == 1
