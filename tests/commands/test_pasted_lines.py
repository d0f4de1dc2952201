"""The lines that jsctl offers for pasting, with names that a shell would run, pasted into a real one."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.pasting import run_pasted
from tests.support.run import Cli

STREAM = "E;touch${IFS}pwned;#"
CONSUMER = "`touch${IFS}pwned`"
CONTEXT = "here; touch pwned"


@pytest.fixture
def have(cli: Cli, url: str) -> Cli:
    """A stream that is nearly full, and a consumer that nobody pulls from."""
    js.stream(url, STREAM, "e.>", max_msgs=10, discard="new")
    js.publish(url, "e.1", count=10)
    config = {"durable_name": CONSUMER, "ack_policy": "explicit"}
    js.ask(url, f"CONSUMER.CREATE.{STREAM}.{CONSUMER}", {"stream_name": STREAM, "config": config})
    cli(["context", "add", CONTEXT, "--server", url, "--defaults"], status=0)
    return cli


@pytest.mark.slow
def test_doctor(have: Cli, tmp_path: Path) -> None:
    findings = have(["doctor", "--context", CONTEXT, "--json"], status=1).json["findings"]
    [finding] = [one for one in findings if one["code"] == "LIMIT_NEAR"]
    raised = finding["fix"].removeprefix("raise the limit (without a terminal, add -f): ")
    words = ["stream", "edit", STREAM, "--max-msgs", "20", "--context", CONTEXT]
    assert run_pasted(tmp_path, raised) == [words]
    assert raised in have(["doctor", "--context", CONTEXT], status=1).out


def test_consumer_why(have: Cli, tmp_path: Path) -> None:
    line = ["consumer", "why", STREAM, CONSUMER, "--context", CONTEXT]
    [cause] = have([*line, "--json"], status=0).json["causes"]
    [tried] = re.findall(r"try: (.*)", have(line, status=0).out)
    assert tried == cause["help"]
    assert run_pasted(tmp_path, tried) == [
        ["consumer", "next", STREAM, CONSUMER, "--no-ack", "--context", CONTEXT]
    ]


@pytest.mark.parametrize(
    ("part", "column", "words"),
    [
        ("1", "Messages", ["stream", "info", STREAM]),
        ("2", "Empty in", ["consumer", "next", STREAM, CONSUMER, "--no-ack"]),
        ("6", "nobody pulls", ["consumer", "next", STREAM, CONSUMER, "--no-ack"]),
    ],
)
def test_the_line_of_a_row(have: Cli, tmp_path: Path, part: str, column: str, words: list[str]) -> None:
    watched = Watched(have.terminal(["report", "--watch", "200ms", "--context", CONTEXT], columns=200))
    watched.until("E;touch")
    watched.press(part)
    watched.until(lambda text: column in text and "pwned" in text)
    watched.press("y")
    watched.until(f"jsctl {shlex.join(words[:2])} 'E;touch")
    watched.press("q")
    assert watched.end() == 0
    [*_, line] = re.findall(r"^(jsctl .*?) *$", watched.screen.text, re.MULTILINE)
    assert run_pasted(tmp_path, line) == [[*words, "--context", CONTEXT]]


def test_hints_of_errors(have: Cli, tmp_path: Path) -> None:
    place = ["--context", CONTEXT]
    error = have(["stream", "add", STREAM, "--subjects", "other", "--defaults", *place], status=1).err
    hint = error[error.index("jsctl stream") :].removesuffix(" changes it\n")
    assert run_pasted(tmp_path, hint) == [["stream", "edit", *place]]
    error = have(["consumer", "info", STREAM, "nope", *place], status=3).err
    hint = error[error.index("jsctl consumer") :].removesuffix(" lists the consumers\n")
    assert run_pasted(tmp_path, hint) == [["consumer", "ls", STREAM, *place]]


def test_a_name_that_begins_with_a_dash(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "-x", "x.>", max_msgs=1, discard="new")
    js.publish(url, "x.1")
    [finding] = cli("doctor --json", status=1).json["findings"]
    raised = finding["fix"].removeprefix("raise the limit (without a terminal, add -f): ")
    [words] = run_pasted(tmp_path, raised)
    assert words[-2:] == ["--", "-x"]
    assert cli([*words[:2], "--dry-run", *words[2:]], status=2).out
