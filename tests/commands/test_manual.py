"""`manual`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from jsctl import manual
from tests.contract.test_completion import complete
from tests.support.run import Cli


def test_the_list_of_topics(offline_cli: Cli) -> None:
    listed = offline_cli("manual --json", status=0).json
    assert [row["topic"] for row in listed] == list(manual.TOPICS)
    assert listed[-1]["topic"] == "contributing"
    assert "Create, inspect" in offline_cli("manual", status=0).out


def test_a_pipe_gets_the_page_as_markdown(offline_cli: Cli) -> None:
    page = offline_cli("manual streams", status=0).out
    assert page.startswith("# Streams\n\n")
    assert "```sh\njsctl stream " in page
    assert "- `jsctl stream ls` (list, l): List the streams\n" in page
    assert "<!--" not in page
    assert offline_cli("manual streams --json", status=0).json == {"topic": "streams", "text": page}


@pytest.mark.parametrize("width", [30, 80, 200])
def test_a_terminal_gets_it_laid_out(width: int, offline_cli: Cli) -> None:
    for topic in manual.TOPICS:
        page = offline_cli(f"manual {topic}", tty=True, width=width, environ={"NO_COLOR": "1"}, status=0).out
        assert "```" not in page and "](" not in page and "\x1b" not in page, topic
        assert max(map(len, page.splitlines())) <= width
    page = offline_cli("manual start", tty=True, width=width, status=0).out
    assert "\x1b[" in page
    words = re.sub(r"\x1b\[[\d;]*m", "", page).split()
    assert "Their contexts (jsctl manual contexts)," in " ".join(words), "a link says how to follow it"
    assert re.search("^    jsctl server run hub-leaf --background$", page, re.M) or width < 40, (
        "code is for pasting"
    )


def test_the_name_of_a_command_stands_for_its_topic(offline_cli: Cli) -> None:
    for name, title in (("stream", "# Streams"), ("pub", "# Messages"), ("exporter", "# The live report")):
        assert offline_cli(f"manual {name}", status=0).out.startswith(f"{title}\n")


def test_an_unknown_topic_is_answered_with_a_near_one(offline_cli: Cli) -> None:
    error = offline_cli("manual streems", status=3).err
    assert error == "jsctl: error: the manual has no topic 'streems'; did you mean 'streams'?\n"
    assert "'jsctl manual' lists all topics" in offline_cli("manual qqq", status=3).err


def test_search_names_topics_and_lines(offline_cli: Cli) -> None:
    matches = offline_cli("manual --search 'ack floor' --json", status=0).json
    assert {match["topic"] for match in matches} >= {"spark", "contributing"}
    for match in matches:
        line = manual.read_topic(match["topic"]).splitlines()[match["line"] - 1]
        assert match["text"] == line.strip() and "ack floor" in line
    within = offline_cli("manual streams --search PURGE --json", status=0).json
    assert {match["topic"] for match in within} == {"streams"} and len(within) > 1
    assert "lag" in offline_cli("manual --search lag", status=0).out
    assert "flags" not in {
        match["text"] for match in offline_cli("manual --search lag --json", status=0).json
    }
    assert "does not contain" in offline_cli("manual --search qqqqq", status=3).err


def test_topics_complete(tmp_path: Path) -> None:
    assert complete("jsctl manual st", 2, tmp_path) == ["start", "streams"]


def test_a_pipe_needs_no_rich() -> None:
    probe = (
        "import sys, os, jsctl.app\n"
        "from jsctl.env import Env\n"
        "from jsctl.base.standard_streams import Streams\n"
        "jsctl.app.run(['manual', 'streams'], Env(Streams.real(), os.environ))\n"
        "sys.exit(str({'rich', 'nats', 'asyncio'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.stderr == "\n" or not done.stderr, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("rows", [24, 1000])
def test_a_long_page_goes_through_the_pager(rows: int, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGER\nexec cat\n")
    pager.chmod(0o755)
    screen = pexpect.spawn(
        sys.executable,
        ["-m", "jsctl", "manual", "streams"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm", "PAGER": str(pager)},
        dimensions=(rows, 80),
        encoding="utf-8",
        timeout=20,
    )
    shown = screen.read()
    screen.close()
    assert screen.exitstatus == 0
    assert "Streams" in shown
    assert ("PAGER" in shown) is (rows == 24)
