"""`manual`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from jsctl import manual, registry
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
    assert complete("jsctl manual st", 2, tmp_path) == ["start", "streams", "stability"]


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
        timeout=60,
    )
    shown = screen.read()
    screen.close()
    assert screen.exitstatus == 0
    assert "Streams" in shown
    assert ("PAGER" in shown) is (rows == 24)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("man"), reason="no man")
@pytest.mark.parametrize("each", [30, pytest.param(1, marks=pytest.mark.long)])
def test_man_shows_a_page_of_each_command(each: int, tmp_path: Path) -> None:
    """As after `pipx install`: the folder of the script is on PATH, and `man` looks beside it. each: which
    pages are looked at for what `man` warns of."""
    cli, folder = Cli(tmp_path), tmp_path / ".local" / "share" / "man" / "man1"
    (tmp_path / ".local" / "bin").mkdir(parents=True)
    path = f"{tmp_path}/.local/bin:{os.environ['PATH']}"
    environ = {"HOME": str(tmp_path), "PATH": path, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    shown = cli("manual --man --json", environ={"PATH": path}, status=0).json
    pages = {file.name for file in folder.iterdir()}
    assert shown == {"folder": str(folder), "pages": len(pages), "searched": True}
    assert pages == {"jsctl.1", *(f"jsctl-{path.replace(' ', '-')}.1" for path in registry.list_commands())}

    def read(*words: str) -> str:
        return subprocess.run(["man", *words], env=environ, capture_output=True, text=True, check=True).stdout

    page = read("jsctl-stream-add")
    assert "jsctl stream add [OPTIONS] [STREAM]" in page
    for flag in ("--subjects SUBJECT", "--metadata KEY=VALUE", "-a, --all"):
        assert flag in page
    assert "jsctl stream add ORDERS" in page.split("EXAMPLES")[1]
    assert "--context NAME" in read("jsctl") and "EXIT STATUS" in read("jsctl")
    for file in sorted(folder.iterdir())[::each]:
        words = ["man", "--warnings", "-E", "UTF-8", "-l", str(file)]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
        faults = [line for line in done.stderr.splitlines() if not re.search("(break|adjust) line$", line)]
        assert not faults, file.name
    (folder / "jsctl-mine.1").write_text(".TH MINE 1\n")
    assert str(folder) in cli("manual --remove", status=0).out
    assert [file.name for file in folder.iterdir()] == ["jsctl-mine.1"]


def test_where_man_does_not_look_the_line_that_helps_is_shown(tmp_path: Path) -> None:
    shown = Cli(tmp_path)("manual --man", environ={"PATH": ""}, status=0).out
    assert f"export MANPATH='{tmp_path}/.local/share/man:'" in shown


def test_pages_and_a_topic_cannot_be_used_together(offline_cli: Cli) -> None:
    assert "leave out the topic" in offline_cli("manual streams --man", status=64).err
