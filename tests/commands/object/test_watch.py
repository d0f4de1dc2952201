"""`object watch`."""

import json
from pathlib import Path

from tests.support import js
from tests.support.objects import put
from tests.support.run import Cli


def test_watch(files: Path, cli: Cli) -> None:
    put(cli, "a")
    put(cli, "b")
    cli("object rm FILES b --force", status=0)
    cli("object link FILES l FILES a", status=0)
    lines = cli("object watch FILES --count 3", status=0).out.splitlines()
    assert "PUT FILES > a: 293 KiB in 3 chunks" in lines[0]
    assert "DEL FILES > b" in lines[1] and "LINK FILES > l" in lines[2]
    records = [
        json.loads(line) for line in cli("object watch FILES --count 3 --json", status=0).out.splitlines()
    ]
    assert [record["name"] for record in records] == ["a", "b", "l"]


def test_a_damaged_description_is_named_and_left_out(files: Path, url: str, cli: Cli) -> None:
    js.publish(url, "$O.FILES.M.YQ==", b"{")
    put(cli, "b")
    outcome = cli("object watch FILES --count 1", status=0)
    assert "PUT FILES > b" in outcome.out and len(outcome.out.splitlines()) == 1
    assert "the description of an object on $O.FILES.M.YQ== is damaged" in outcome.err
