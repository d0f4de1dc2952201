"""Objects with names and descriptions that no client writes."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.objects import DATA, put, store_info
from tests.support.run import Cli


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
    cli("object sync FILES . --down")
    assert set(files.parent.rglob("*")) - set(files.rglob("*")) == outside
    cli(["object", "rm", "FILES", "--force", "--", name], status=0)
    assert cli("object ls FILES --json", status=0).json == []


def test_descriptions_that_no_client_writes(files: Path, cli: Cli, url: str) -> None:
    for record in ({"size": "x"}, {"name": "other"}, {"nuid": "a b"}, {"headers": 7}):
        store_info(url, "a", **record)
        for verb in ("get", "info"):
            outcome = cli(f"object {verb} FILES a", status=1)
            assert "damaged" in outcome.err and len(outcome.err.splitlines()) == 1
        cli("object rm FILES a --force", status=0)


def test_one_damaged_description_does_not_keep_from_the_rest(files: Path, cli: Cli, url: str) -> None:
    """It is listed with the others, and can be put again or removed; its chunks are nobody's to remove."""
    put(cli, "whole")
    store_info(url, "bad", size="x")
    store_info(url, "worse", nuid=7)
    listed = cli("object ls FILES --json", status=0)
    assert [one["name"] for one in listed.json] == ["bad", "whole", "worse"]
    assert listed.json[0]["damaged"] == "size is not a number"
    assert listed.err.count("is damaged") == 2
    assert cli("object ls FILES --names", status=0).out.split() == ["bad", "whole", "worse"]
    assert cli("object status FILES --json", status=0).json[0]["objects"] == 3
    assert "with 3 objects" in cli("object rm FILES --dry-run", status=0).out
    js.publish(url, "$O.FILES.C.LEFT", b"x")
    refused = cli("object rm FILES --unfinished --force", status=1)
    assert "cannot be distinguished from those of unfinished puts" in refused.err
    cli("object rm FILES worse --force", status=0)
    assert (
        "Removed 1 unfinished put"
        in cli("object rm FILES --unfinished --force", terminal_error=True, status=0).err
    )
    put(cli, "bad", DATA, "--force")
    cli("object get FILES bad -O copy", status=0)
    assert (files / "copy").read_bytes() == DATA
    left = cli("object ls FILES", status=0)
    assert left.err == "" and "worse" not in left.out
    cli("object rm FILES --force", status=0)
