"""`jsctl object` and its short commands."""

from pathlib import Path

import pytest

from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.generated import is_writing
from tests.support.objects import DATA, put
from tests.support.run import Cli


def test_buckets(files: Path, cli: Cli, url: str) -> None:
    flags = "--ttl 1h --max-bucket-size 1MB --description D --storage memory --metadata a=b --compress"
    cli(f"object add B {flags}", status=0)
    config = js.info(url, "OBJ_B")["config"]
    assert config["max_age"] == 3_600_000_000_000 and config["max_bytes"] == 1 << 20
    assert config["subjects"] == ["$O.B.C.>", "$O.B.M.>"] and config["discard"] == "new"
    assert config["allow_rollup_hdrs"] and config["allow_direct"]
    assert "already exists" in cli("object add FILES", status=0).out
    assert "object edit" in cli("object add FILES --ttl 1h", status=1).err
    planned = cli("object edit B --ttl 2h --max-bucket-size 2MB --dry-run --json", status=2).json
    assert [change["key"] for change in planned] == ["ttl", "max_bucket_size"], "the words of the flags"
    assert cli("object edit B --ttl 1h --dry-run", status=0).out == "No difference in configuration\n"
    cli("object edit B --ttl 2h --metadata c=d --force", status=0)
    config = js.info(url, "OBJ_B")["config"]
    assert config["max_age"] == 7_200_000_000_000
    assert {"a": "b", "c": "d"}.items() <= config["metadata"].items()
    assert cli("object ls --json", status=0).json == ["B", "FILES"]
    assert "D" in cli("object ls", status=0).out
    assert "Bucket Name: B" in cli("object info B", status=0).out
    put(cli, "a")
    row = next(row for row in cli("object status --json", status=0).json if row["bucket"] == "FILES")
    assert (row["objects"], row["unfinished"]) == (1, 0)


@pytest.mark.parametrize("name", ["bücket", "a;id", "a.b", "a b", "$(id)", "a'b", "x" * 253])
@pytest.mark.parametrize("noun", ["object", "kv"])
def test_names_that_no_other_client_opens(cli: Cli, noun: str, name: str) -> None:
    refused = cli([noun, "add", name], status=64)
    assert (
        "is not a valid bucket name: letters, digits, _ and -" in refused.err or "at most 25" in refused.err
    )
    assert cli("stream ls --names", status=0).out == ""


def test_a_bucket_of_another_client_is_opened_whatever_its_name(cli: Cli, url: str) -> None:
    js.stream(url, "OBJ_bücket", "$O.bücket.C.>", "$O.bücket.M.>", allow_rollup_hdrs=True, allow_direct=True)
    cli("object link bücket other bücket", status=0)
    assert cli("object ls bücket --names", status=0).out == "other\n"


def test_nothing_is_listed_in_words(cli: Cli) -> None:
    assert cli("object ls", status=0).out == "No Object Store buckets found\n"
    cli("object add FILES", status=0)
    assert cli("object ls FILES", status=0).out == "No entries found\n"


@pytest.mark.usefixtures("outputs_are_valid")
def test_info(files: Path, cli: Cli) -> None:
    stored = put(cli, "a", DATA, "--description", "D")
    assert cli("object info FILES a --json", status=0).json == stored
    shown = cli("object info FILES a", tty=True, status=0).out
    assert "Description: D" in shown and "Digest: SHA-256 " in shown
    assert "Bucket Name: FILES" in cli("object info FILES", status=0).out
    bucket = cli("object info FILES --json", status=0).json
    if not is_writing():  # the generator writes the forms of outputs anew
        assert not validate(bucket, load_schema("io.jsctl.v1.object_info")), "the schema describes both"
    assert "not found" in cli("object info FILES b", status=3).err


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


def test_seal(files: Path, cli: Cli) -> None:
    put(cli, "a")
    assert "--force" in cli("object seal FILES", status=64).err
    assert "has been sealed" in cli("object seal FILES --force", status=0).out
    assert "sealed" in cli("object put FILES source --name b", status=1).err
    assert "already sealed" in cli("object seal FILES", terminal_error=True, status=0).err
