"""The last line of defence: a run ends with an exit status, and never with a traceback."""

import json
import os
import subprocess
import sys
from asyncio import IncompleteReadError
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

from jsctl import app
from jsctl.base.standard_streams import Streams
from jsctl.env import Env
from jsctl.errors import ExitStatus, JsctlError
from tests.support import js
from tests.support.run import Cli, Outcome, replaces_functions


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise ConnectionError("the JVM has gone")


def _raising(error: BaseException) -> Any:
    def fail(*args: Any, **attrs: Any) -> Any:
        raise error

    return fail


@replaces_functions
@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (_Unspeakable(), 1, "unexpected _Unspeakable; this is a bug"),
        (RuntimeError("a\x1b[2Jb"), 1, r"RuntimeError: a\x1b[2Jb"),
        (RecursionError("deep"), 1, "deep"),
        (MemoryError(), 1, "MemoryError"),
        (GeneratorExit(), 1, "GeneratorExit"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (JsctlError("no", "say yes"), 1, "no; say yes"),
        (click.MissingParameter("", param_type="argument"), 64, "issing"),
        (SystemExit(7), 7, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_every_error_is_a_status_and_a_line(
    error: BaseException, status: int, words: str, offline_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.root, "main", _raising(error))
    outcome = offline_cli("stream ls", status=status)
    assert words in outcome.err
    assert len(outcome.err.splitlines()) <= 1


@replaces_functions
@pytest.mark.parametrize("form", ["", "--json"])
def test_data_that_ends_too_early_is_no_interruption(
    form: str, offline_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As asyncio and gzip report it; at a prompt, ctrl-D is an EOFError as well."""
    monkeypatch.setattr("jsctl.commands.cli.verbs.check_integers", _raising(IncompleteReadError(b"ab", 4)))
    [line] = offline_cli(f"stream ls {form}", status=1).err.splitlines()
    assert "unexpected IncompleteReadError: 2 bytes read on a total of 4 expected bytes" in line
    outcome = offline_cli("stream ls", environ={"JSCTL_DEBUG": "1"}, status=1)
    assert "Traceback" in outcome.err and "test_last_line.py" in outcome.err


@replaces_functions
def test_debugging_shows_where_and_ends_with_a_status(
    offline_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.root, "main", _raising(RuntimeError("here")))
    outcome: Outcome = offline_cli("stream ls", environ={"JSCTL_DEBUG": "1"}, status=1)
    assert "Traceback" in outcome.err and "here" in outcome.err


class _Broken:
    """A stream that takes nothing."""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise ValueError("I/O operation on closed file")

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "line", ["cheat streams", "cheat", "no-such-command", "stream ls --json", "report x"]
)
def test_streams_that_accept_nothing(line: str, tmp_path: Path) -> None:
    broken: Any = _Broken()
    env = Env(
        Streams(broken, broken, broken), {"XDG_CONFIG_HOME": str(tmp_path), "NATS_URL": "nats://127.0.0.1:1"}
    )
    assert app.run(line.split(), env) in set(ExitStatus) - {ExitStatus.OK}


FULL = "jsctl: error: cannot write the output: No space left on device"

FORMS = (
    "stream ls",
    "stream ls --json",
    "stream ls --as csv",
    "stream ls --names",
    "stream info S",
    "stream info S --json",
    "stream view S",
    "stream view S --raw",
    "sub --stream S --all -T",
    "sub --stream S --all -T --json",
    "sub --stream S --all -T --raw-bytes",
    "stream get S 1",
    "export config S",
    "report",
    "errors ls --json",
    "completion zsh",
    "server run --help",
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_every_form_of_output_on_a_full_disk(cli: Cli, url: str) -> None:
    """Also when there is more of it than a buffer holds."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"x" * 100_000, count=3)
    with Path("/dev/full").open("wb") as full:
        running = {line: cli.start(line.split(), stdout=full) for line in FORMS}
        for line, process in running.items():
            _, err = process.communicate(timeout=60)
            assert process.returncode == 1, (line, err)
            if "--json" in line:
                assert json.loads(err)["error"] == FULL.removeprefix("jsctl: error: "), line
            else:
                assert [said for said in err.splitlines() if said.startswith("jsctl: ")] == [FULL], (
                    line,
                    err,
                )


LINES = ["--help", "stream --help", "stream", "cheat streams", "cheat --json", "--version"]
REDIRECTS = [">/dev/full 2>&1", ">&-", ">&- 2>&-", "2>&- <&-"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    ("line", "redirect"),
    [*((line, ">/dev/full") for line in LINES), *product(["stream", "cheat streams"], REDIRECTS)],
)
def test_a_full_disk_or_a_closed_stream(line: str, redirect: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m jsctl {line} {redirect}'],
        env={**os.environ, "HOME": str(tmp_path), "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ended.stderr and "Exception ignored" not in ended.stderr
    assert ended.returncode in (0, 1, 64), ended
    if redirect == ">/dev/full" and line != "stream":
        assert ended.returncode == 1
        if "--json" in line:
            assert json.loads(ended.stderr)["error"] == FULL.removeprefix("jsctl: error: ")
        else:
            assert ended.stderr == f"{FULL}\n"
