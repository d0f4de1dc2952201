"""Run jsctl: in this process with streams of our own, or in a real pseudo-terminal."""

import atexit
import contextlib
import functools
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from jsctl.app import run
from jsctl.base.standard_streams import Streams
from jsctl.env import Env
from jsctl.prompts.prompter import ScriptedPrompter
from tests.support.agents import running_agent

if TYPE_CHECKING:
    Terminal = pexpect.spawn[str]
else:
    Terminal = pexpect.spawn  # generic for the type checker only


class _Stream(io.StringIO):
    def __init__(self, text: str = "", tty: bool = False) -> None:
        super().__init__(text)
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@functools.cache
def _start_agent() -> str:
    """Start an agent that ends with this process, and return the path of its socket."""
    agent = running_agent()
    atexit.register(agent.__exit__, None, None, None)
    return agent.__enter__()


def _restore_environ(saved: dict[str, str]) -> None:
    """Undo what differs: to set all variables anew takes longer than many a command."""
    now = dict(os.environ)
    for name in now.keys() - saved.keys():
        del os.environ[name]
    os.environ.update({name: value for name, value in saved.items() if now.get(name) != value})


@dataclass
class Outcome:
    """The result of a command line."""

    status: int
    out: str
    err: str
    asked: list[str]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@contextlib.contextmanager
def _forwarding_interrupts() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Send SIGINT on to the processes of a list: tests interrupt their own, where lines run otherwise."""
    started: list[subprocess.Popen[bytes]] = []
    if threading.current_thread() is not threading.main_thread():
        yield started
        return

    def forward(number: int, frame: object) -> None:
        for process in started:
            process.send_signal(number)

    saved = signal.signal(signal.SIGINT, forward)
    try:
        yield started
    finally:
        signal.signal(signal.SIGINT, saved)


CALLS = os.environ.get("JSCTL_TEST_CALLS", "")
"""Where lines run without a terminal and without answers: in this process; with "process", in one of their
own; with "agent", within an agent. What fails with the last and passes with the second is a fault of agents.
"""

replaces_functions = pytest.mark.skipif(bool(CALLS), reason="it replaces what another process would not")


observers: list[Callable[[Env, Sequence[str], Outcome], object]] = []
"""What is called after each line that ran in this process."""


class Cli:
    """A caller of `jsctl` with a configuration folder of its own."""

    def __init__(self, home: Path, url: str = "") -> None:
        self.home = home
        self.environ: dict[str, str] = {"XDG_CONFIG_HOME": str(home), "HOME": str(home), "TERM": "xterm"}
        self.environ["JSCTL_COMPLETE_WAIT"] = "20000"  # ms: completion is not to depend on a busy machine
        if url:
            self.environ["NATS_URL"] = url

    def __call__(
        self,
        line: str | Sequence[str],
        *,
        tty: bool = False,
        terminal_error: bool = False,
        answers: Sequence[Any] | Mapping[str, Any] | None = None,
        stdin: str = "",
        width: int = 160,
        environ: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> Outcome:
        """Run one command line (a string is split as a shell does).

        tty: stdin, stdout and stderr are a terminal. terminal_error: stderr is one. answers: a
        ScriptedPrompter's. status: assert this one.
        """
        args = shlex.split(line) if isinstance(line, str) else list(line)
        if CALLS and not tty and not terminal_error and answers is None:
            outcome = self._call(args, stdin, width, environ or {})
            assert status in (None, outcome.status), f"{args}: {outcome}"
            return outcome
        out, err = _Stream(tty=tty), _Stream(tty=tty or terminal_error)
        prompter = ScriptedPrompter(answers) if answers is not None else None
        variables = {**self.environ, **(environ or {})}
        env = Env(Streams(_Stream(stdin, tty=tty), out, err, width=width), variables, prompter=prompter)
        # click reads os.environ for option values and writes help to sys.stdout.
        saved, saved_out = dict(os.environ), sys.stdout
        os.environ.update(variables)
        sys.stdout = out
        try:
            code = run(args, env)
        finally:
            sys.stdout = saved_out
            _restore_environ(saved)
        outcome = Outcome(int(code), out.getvalue(), err.getvalue(), prompter.asked if prompter else [])
        if status is not None:
            assert outcome.status == status, f"{args}: {outcome}"
        for observe in observers:
            observe(env, args, outcome)
        return outcome

    def _call(self, args: Sequence[str], stdin: str, width: int, environ: Mapping[str, str]) -> Outcome:
        """Run one command line in a process of its own, or within an agent."""
        variables = {**os.environ, "COLUMNS": str(width), **self.environ, **environ}
        if CALLS == "agent":
            variables["JSCTL_AGENT"] = _start_agent()
        words = [sys.executable, "-m", "jsctl", *args]
        pipe = subprocess.PIPE
        with _forwarding_interrupts() as started:
            process = subprocess.Popen(words, env=variables, stdin=pipe, stdout=pipe, stderr=pipe)
            started.append(process)
            ended = process.communicate(stdin.encode(errors="surrogateescape"))
        out, err = (text.decode(errors="surrogateescape") for text in ended)
        return Outcome(process.returncode, out, err, [])

    def start(
        self, line: str | Sequence[str], *, environ: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start `jsctl` as a process of its own; the caller ends it. options: of Popen, such as `stdout`."""
        args = shlex.split(line) if isinstance(line, str) else list(line)
        return subprocess.Popen(
            [sys.executable, "-m", "jsctl", *args],
            env={**os.environ, **self.environ, **(environ or {})},
            text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    def terminal(
        self, line: str | Sequence[str], *, columns: int = 120, rows: int = 40, shell: Sequence[str] = ()
    ) -> Terminal:
        """Start `jsctl` in a pseudo-terminal; the caller closes it. shell: types the line in this one."""
        args = shlex.split(line) if isinstance(line, str) else list(line)
        variables = {
            "TERM": "xterm-256color",
            "PYTHONUNBUFFERED": "1",
            "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody answers where the cursor is: a second a question
        }
        command = [sys.executable, "-m", "jsctl", *args]
        program, *arguments = shell or command
        child = pexpect.spawn(
            program,
            arguments,
            env={**os.environ, **self.environ, **variables},
            dimensions=(rows, columns),
            encoding="utf-8",
            timeout=60,
        )
        if shell:
            child.send(f"{shlex.join(command)}\r")
        return child
