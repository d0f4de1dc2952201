"""`object link`."""

from pathlib import Path

from tests.support.objects import DATA, put
from tests.support.run import Cli


def test_links(files: Path, cli: Cli) -> None:
    put(cli, "a")
    assert cli("object link FILES l FILES a --json", status=0).json["options"]["link"] == {
        "bucket": "FILES",
        "name": "a",
    }
    cli("object link FILES ll FILES l", status=0)
    cli("object get FILES ll", status=0)
    assert (files / "ll").read_bytes() == DATA
    cli("object link FILES whole FILES", status=0)
    assert "link to bucket FILES" in cli("object get FILES whole", status=1).err
    assert "is an object, not a link" in cli("object link FILES a FILES l", status=1).err
    assert "not found" in cli("object link FILES x FILES nothing", status=3).err
    cli("object link FILES l FILES ll", status=0)
    assert "endless chain of links" in cli("object get FILES l --force", status=1).err
    listed = cli("object ls FILES", status=0).out
    assert "FILES > a" not in listed and "FILES > ll" in listed
