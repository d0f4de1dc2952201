"""Starts under conditions that are not those of a desktop: no home, a home that cannot be written, terminals
that can do little."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = pytest.mark.slow

NO_ACCOUNT = """
import pwd, sys
def find_nobody(*names):
    raise KeyError("uid not found")
pwd.getpwuid = find_nobody
sys.argv = ["jsctl", *sys.argv[1:]]
from jsctl.__main__ import main
main()
"""
"""A process whose user has no account, as with `--user 12345` in a container."""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing in its environment but PATH and these variables."""
    environ = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def jsctl(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "jsctl", *line.split(), **variables)


def test_without_a_home(url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    assert jsctl(f"stream ls --names -s {url} --no-context").stdout == "ORDERS\n"
    for line in ("context ls", "--version", f"stream ls -s {url}", "version", "auth operator ls"):
        ended = run(sys.executable, "-c", NO_ACCOUNT, *line.split())
        assert (ended.returncode, ended.stderr) == (0, ""), line


def read_only(home: Path) -> list[str]:
    """The words that run a program as somebody who cannot write to a folder that allows nobody to."""
    home.mkdir()
    home.chmod(0o555)
    if os.getuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root writes everywhere")
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]


def test_a_home_that_cannot_be_written(url: str, tmp_path: Path) -> None:
    js.stream(url, "ORDERS", "orders")
    home, store = tmp_path / "home", tmp_path / "store"
    words = [*read_only(home), sys.executable, "-m", "jsctl"]

    def run_line(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run(*words, *line.split(), HOME=str(home), **variables)

    for line in (f"stream ls -s {url}", "context ls", "version", "manual", "shell", "completion bash"):
        ended = run_line(line)
        assert (ended.returncode, ended.stderr) == (0, ""), line
    complete = {"_JSCTL_COMPLETE": "bash_complete", "COMP_WORDS": "jsctl stream info ", "COMP_CWORD": "3"}
    names = run_line("", NATS_URL=url, JSCTL_COMPLETE_WAIT="20000", **complete)
    assert (names.stdout, names.stderr) == ("plain,ORDERS\n", "")
    for line in (
        "context add x --server nats://h",
        "completion install --shell bash",
        "completion install --shell zsh",
        "manual --man",
        "server run --background --port 0",
        f"server run --store {store} --background --port 0",
    ):
        ended = run_line(line)
        assert ended.returncode == 1, line
        assert re.fullmatch(rf"jsctl: error: cannot .*{home}.*Permission denied.*\n", ended.stderr), line
    assert list(home.iterdir()) == [] and run("pgrep", "-f", str(store)).stdout == ""


@pytest.mark.parametrize("variable", ["PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"])
def test_as_a_module(variable: str, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('the one of the folder')")
    words = [
        sys.executable,
        *(["-P"] if variable == "PYTHONSAFEPATH" else []),
        "-m",
        "jsctl",
        "context",
        "ls",
    ]
    environ = {"PATH": "", "HOME": str(tmp_path), variable: "1"}
    folder = tmp_path if variable == "PYTHONSAFEPATH" else Path(__file__).parent
    ended = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "No known contexts\n", "")


TERMINALS: list[dict[str, str | None]] = [
    {"TERM": "dumb"},
    {"TERM": ""},
    {"TERM": None},
    {"TERM": "unknown"},
    {"NO_COLOR": "1"},
    {"TERM": "no-such-terminal"},
    {"NO_COLOR": "1", "FORCE_COLOR": "1"},
    {"FORCE_COLOR": "1"},
]
LINES = ("manual start", "stream ls", "stream add --help", "report", "nonsense")


@pytest.mark.parametrize("variables", sample(TERMINALS, 2), ids=str)
def test_terminals(variables: dict[str, str | None], url: str, tmp_path: Path) -> None:
    """At 40 columns: nothing waits, no line is wider, and what can show no colors gets none."""
    js.stream(url, "ORDERS", "orders")
    given = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "NATS_URL": url,
        "PAGER": "cat",
        "TERM": "xterm",
    }
    environ = {name: value for name, value in {**given, **variables}.items() if value is not None}
    is_plain = "NO_COLOR" in variables or environ.get("TERM", "") in ("", "dumb", "unknown")
    for line in LINES:
        child = pexpect.spawn(
            sys.executable,
            ["-m", "jsctl", *line.split()],
            env=environ,
            dimensions=(24, 40),
            encoding="utf-8",
            timeout=60,
        )
        child.expect(pexpect.EOF)
        child.close()
        shown = child.before or ""
        assert child.exitstatus == (64 if line == "nonsense" else 0), shown
        assert "\x1b" not in shown or not is_plain, line
        text = re.sub(r"\x1b\[[\d;]*m", "", shown)
        # Flags and examples are never broken.
        wide = [
            row for row in text.splitlines() if len(row) > 40 and not row.startswith(("  --", "  jsctl "))
        ]
        assert not wide, line
        assert "Traceback" not in shown


def test_a_pipe_has_no_colors_whatever_the_variables_say(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    for line in ("stream ls", "report", "stream ls --as table", "manual start"):
        plain = jsctl(line, NATS_URL=url).stdout
        forced = jsctl(line, NATS_URL=url, FORCE_COLOR="1", CLICOLOR_FORCE="1", TTY_COMPATIBLE="1").stdout
        assert "\x1b" not in plain + forced, line
        assert len(forced) == len(plain)
