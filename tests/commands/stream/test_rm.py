"""`stream rm` with several names, patterns and --dry-run."""

import pexpect
import pytest

from tests.support import js
from tests.support.run import Cli


def make(url: str, *names: str) -> None:
    for name in names:
        js.stream(url, name, name)
        js.publish(url, name, b"x", count=2)


def left(cli: Cli) -> list[str]:
    return list(cli("stream ls --names --json", status=0).json)


def test_a_pattern_asks_once(cli: Cli, url: str) -> None:
    make(url, "LOGS_1", "LOGS_2", "KEEP")
    line = "stream rm 'LOGS_*' LOGS_2"
    no = cli(line, tty=True, answers=[False], status=0)
    assert no.asked == [
        "Really delete 2 Streams (4 messages, 148 B: LOGS_1: 2 messages, 74 B; LOGS_2: 2 messages, 74 B)"
    ]
    assert len(left(cli)) == 3
    assert "use --force" in cli(line, status=64).err
    assert cli(line, tty=True, answers=[True], status=0).err.splitlines() == [
        "Stream LOGS_1 was removed",
        "Stream LOGS_2 was removed",
    ]
    assert left(cli) == ["KEEP"]


def test_a_dry_run_removes_nothing(cli: Cli, url: str) -> None:
    make(url, "A", "B")
    assert cli("stream rm A B --dry-run", status=0).out.partition("] ")[2].splitlines() == [
        "Would delete Stream A: 2 messages, 64 B",
        "Would delete Stream B: 2 messages, 64 B",
        "Nothing was changed",
    ]
    dry = cli("stream rm '*' --force --dry-run --json", status=0).json
    assert [one["stream"] for one in dry["streams"]] == ["A", "B"]
    assert left(cli) == ["A", "B"]


def test_what_was_removed_is_reported_when_a_later_one_is_missing(cli: Cli, url: str) -> None:
    make(url, "A")
    outcome = cli("stream rm A NOPE --force", status=3)
    assert outcome.err.splitlines()[0] == "Stream A was removed"
    assert "stream NOPE not found" in outcome.err
    assert "no stream matches X*" in cli("stream rm 'X*' -f", status=3).err


def test_nothing_is_asked_when_one_is_missing(cli: Cli, url: str) -> None:
    make(url, "A")
    assert cli("stream rm A NOPE", tty=True, answers=[], status=3).asked == []
    assert left(cli) == ["A"]


def test_json(cli: Cli, url: str) -> None:
    make(url, "A", "B", "C")
    assert cli("stream rm A -f --json", status=0).json == {"stream": "A", "removed": True}
    assert cli("stream rm B C -f --json", status=0).json == [
        {"stream": "B", "removed": True},
        {"stream": "C", "removed": True},
    ]


@pytest.mark.slow
def test_a_letter_alone_removes_nothing(cli: Cli) -> None:
    """The answer waits for enter, and takes the whole word."""
    cli("stream add S --subjects s --defaults", status=0)
    for answer, left in (("y\x03", 1), ("no\r", 1), ("yes\r", 0)):
        with cli.terminal("stream rm S") as screen:
            screen.expect_exact("Really delete Stream S")
            screen.send(answer)
            screen.expect(pexpect.EOF)
        assert len(cli("stream ls --json", status=0).json) == left, answer
