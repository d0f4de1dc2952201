"""`stream gaps` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli


def test_gaps(orders: Cli, url: str) -> None:
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 4})
    shown = orders("stream gaps ORDERS -f --no-progress", status=0).out
    assert shown.splitlines() == [
        "1 gap found in Stream ORDERS",
        "First Message  Last Message  Missing",
        "            3             4        2",
    ]
    assert orders("stream gaps ORDERS --json", status=0).json == [[3, 4]]
    js.stream(url, "WHOLE", "whole")
    assert orders("stream gaps WHOLE", status=0).out == "No deleted messages in WHOLE\n"
    assert orders("stream gaps WHOLE --json", status=0).json == []


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_gaps_by_reading_are_those_of_the_server(
    cli: Cli, url: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    js.stream(url, "G", "g.*", storage="memory", allow_direct=direct)
    deleted = [number % 7 == 0 or 6000 < number < 9500 for number in range(12001)]
    js.publish_all(url, ((f"g.{deleted[number]}", b"") for number in range(1, 12001)))
    js.ask(url, "STREAM.PURGE.G", {"filter": "g.True"})
    known = cli("stream gaps G --json", status=0).json
    assert [n for first, last in known for n in range(first, last + 1)] == [
        number for number in range(1, 12001) if deleted[number]
    ]
    assert [6001, 9499] in known
    monkeypatch.setattr("jsctl.jetstream.message.gaps.MAX_DETAILS", 0)
    assert "use --force" in cli("stream gaps G", status=64).err
    assert cli("stream gaps G --json --force", status=0).json == known
    questions = cli("stream gaps G", tty=True, answers=[False], status=0).asked
    assert questions[0].startswith("Really read all of Stream G (")
