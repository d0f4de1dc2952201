"""`object rm`."""

from pathlib import Path

from tests.support import js
from tests.support.objects import put
from tests.support.run import Cli


def test_rm(files: Path, cli: Cli, url: str) -> None:
    for name in "abc":
        put(cli, name)
    assert "Would remove FILES > a" in cli("object rm FILES a b --dry-run", status=0).out
    assert "--force" in cli("object rm FILES a", status=64).err
    assert cli("object rm FILES a b --force --json", status=0).json[1]["removed"]
    assert [one["name"] for one in cli("object ls FILES --json", status=0).json] == ["c"]
    assert "not found" in cli("object get FILES a", status=3).err
    put(cli, "a", b"again")
    assert "with 2 objects" in cli("object rm FILES --dry-run", status=0).out
    cli("object rm FILES", answers=[True], status=0)
    assert "not found" in cli("object ls FILES", status=3).err


def test_unfinished_puts_are_removed(files: Path, cli: Cli, url: str) -> None:
    put(cli, "a")
    js.publish(url, "$O.FILES.C.LEFT", b"x")
    assert "Would remove 1 unfinished put" in cli("object rm FILES --unfinished --dry-run", status=0).out
    cli("object rm FILES --unfinished --force", status=0)
    assert js.info(url, "OBJ_FILES")["state"]["messages"] == 4


def test_a_line_end_in_a_name_begins_no_line(cli: Cli) -> None:
    cli("object add O", status=0)
    cli(["object", "put", "O", "-", "--name", "a\nRemoved O > b"], stdin="x", status=0)
    for line in (["--dry-run"], ["--force"]):
        outcome = cli(["object", "rm", "O", "a\nRemoved O > b", *line], terminal_error=True, status=0)
        assert (
            (outcome.out or outcome.err)
            .rpartition("] ")[2]
            .startswith(("Would remove O > a\\nRemoved O > b", "Removed O > a\\nRemoved O > b\n"))
        )
