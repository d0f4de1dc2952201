"""Long help: in groups, a screen at a time on a terminal, whole in a pipe."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from jsctl import registry
from tests.support.run import Cli, Terminal


def test_the_commands_are_in_groups(offline_cli: Cli) -> None:
    shown = offline_cli("--help --all", status=0).out
    titles = "Streams and messages, Buckets and Spark, Live and reports, Network and accounts, This tool"
    assert re.findall(r"^(\w[\w ]+):$", shown, re.MULTILINE)[:5] == titles.split(", ")
    grouped = [name for names in registry.list_groups().values() for name in names]
    assert sorted(grouped) == sorted([*registry.list_children(""), "help"])


@pytest.mark.parametrize("noun", ["", *registry.list_children("")])
def test_a_page_has_at_most_60_lines_of_80_columns(noun: str, offline_cli: Cli) -> None:
    for path in [noun, *(path for path in registry.list_commands() if path.startswith(f"{noun} "))]:
        line = [*path.split(), "--help"]
        page = offline_cli(line, tty=True, width=80, status=0).out
        lines = page.splitlines()
        assert len(lines) <= 60, path
        assert [text for text in lines if re.search(r"\w-$", text)] == [], f"{path}: a flag is broken"
        wide = [text for text in lines if len(text) > 80 and not text.startswith("  jsctl ")]
        assert wide == [], f"{path}: only examples may be longer"
        whole = offline_cli([*line, "--all"], tty=True, width=80, status=0).out
        for heading in ("Commands:\n", "Examples:\n"):
            assert (heading in page) == (heading in whole), path
        flags, all_flags = (
            text.partition("\nGlobal flags, ")[0].rpartition("Examples:\n")[2].count("\n  -")
            for text in (page, whole)
        )
        more = re.search(r"^(\d+) more flags:\n  (.*)$", page, re.MULTILINE)
        assert all_flags - flags == (int(more[1]) if more else 0), path


def test_jsctl_alone_fits_40_lines(offline_cli: Cli) -> None:
    page = offline_cli("", tty=True, width=80, status=64).err
    assert page.count("\n") <= 40
    words = set(re.findall(r"[\w-]+", page))
    assert not {*registry.list_children(""), "help"} - words, "each command is named"


def test_help_at_any_width(offline_cli: Cli) -> None:
    for width in (1, 2, 7, 12, 19, 20, 40):
        for path in ("", "stream", "stream add", "server check", "nope"):
            outcome = offline_cli([*path.split(), "--help"], tty=True, width=width)
            assert outcome.status == (64 if path == "nope" else 0), (width, path, outcome.err)


def start(line: str, home: Path, **variables: str) -> Terminal:
    return pexpect.spawn(
        sys.executable,
        ["-m", "jsctl", *line.split()],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm", **variables},
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture
def pager(tmp_path: Path) -> Iterator[str]:
    """A pager that says when it runs, and which secrets it has inherited."""
    script = tmp_path / "my pager"
    script.write_text("#!/bin/sh\necho PAGER [$NATS_PASSWORD]\nexec cat\n")
    script.chmod(0o755)
    yield f"'{script}'"


@pytest.mark.slow
@pytest.mark.parametrize("line", ["--help", "help", "stream add --help", "help stream add"])
def test_long_help_goes_through_the_pager(line: str, pager: str, tmp_path: Path) -> None:
    screen = start(line, tmp_path, PAGER=pager, NATS_PASSWORD="secret")
    screen.expect_exact("PAGER []")
    screen.expect_exact("Usage: jsctl")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0


@pytest.mark.parametrize(
    ("line", "variables"),
    [
        ("rtt --help", {}),
        ("--help", {"PAGER": ""}),
        ("--help", {"PAGER": "/no/such/pager"}),
        ("--help", {"PAGER": "it's"}),
        ("--help", {"TERM": "dumb"}),
    ],
)
def test_help_without_a_pager(line: str, variables: dict[str, str], pager: str, tmp_path: Path) -> None:
    screen = start(line, tmp_path, **{"PAGER": pager, **variables})
    screen.expect_exact("Usage: jsctl")
    assert "PAGER" not in str(screen.before)
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0


@pytest.mark.skipif(not Path("/usr/bin/less").exists(), reason="no less")
def test_less_shows_a_screen_at_a_time(tmp_path: Path) -> None:
    screen = start("--help --all", tmp_path)
    screen.expect_exact("Streams and messages:")
    screen.expect_exact("\r\n:")
    assert "Global flags" not in str(screen.before)
    screen.sendintr()  # is the pager's
    screen.send(" ")
    screen.expect_exact("Live and reports:")
    screen.send("q")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0
