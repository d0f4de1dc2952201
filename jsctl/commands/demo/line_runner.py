"""Command lines of jsctl that run in this process, in the folder of a walkthrough, only with its contexts."""

import io
import os
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from jsctl.base.signals import Stopped, signals_as_interrupts
from jsctl.base.standard_streams import Streams
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.localserver.networks import VARIABLE
from jsctl.localserver.state import CONTEXTS, load_state
from jsctl.prompts.prompter import Form, Question, ScriptedPrompter


class LineRunner:
    """A runner of command lines in a folder, which also holds the network."""

    def __init__(self, env: Env, folder: Path) -> None:
        self._env = env
        self._folder = folder
        self._environ = {
            name: value
            for name, value in env.environ.items()
            if not name.startswith("NATS_") and name != "XDG_CONFIG_HOME"
        }
        self._environ |= {"XDG_CONFIG_HOME": str(folder / CONTEXTS), VARIABLE: str(folder)}

    def run(
        self, line: str, *, show: bool = False, prompter: "ShownPrompter | None" = None
    ) -> tuple[int, str, str]:
        """Run a command line, in which `{hub}` is the address of the server `hub`.

        Returns its exit status, output and messages. Raises Stopped after a signal, also if the line's verb
        took it as its ordinary end.
        """
        streams = self._env.streams
        out = _Tee(streams.stdout if show else None)
        err = _Tee(streams.stderr if show else None)
        width = self._env.width if self._env.is_terminal else None
        if prompter:
            prompter.out = out
        inner = Env(Streams(io.StringIO(), out, err, width), self._environ, prompter=prompter)
        if self._env.run_line is None:
            raise RuntimeError("no app runs")
        with _change_folder(self._folder, self._environ), signals_as_interrupts() as arrived:
            status = self._env.run_line(shlex.split(self.fill(line)), inner)
        if arrived or status == ExitStatus.INTERRUPTED:
            raise Stopped("stopped", number=arrived[0] if arrived else signal.SIGINT)
        return status, out.getvalue(), err.getvalue()

    def fill(self, line: str) -> str:
        """Put the servers' addresses into a command line."""
        state = load_state(self._folder)
        for node in state.nodes if state else ():
            line = line.replace(f"{{{node.name}}}", node.url.rpartition("//")[2])
        return line


class _Tee(io.StringIO):
    """A stream that stores what is written, and shows it on another stream as well."""

    def __init__(self, shown: TextIO | None) -> None:
        super().__init__()
        self._shown = shown

    def write(self, text: str) -> int:
        if self._shown is not None:
            self._shown.write(text)
        return super().write(text)

    def flush(self) -> None:
        if self._shown is not None:
            self._shown.flush()

    def isatty(self) -> bool:
        return self._shown is not None and self._shown.isatty()


class ShownPrompter(ScriptedPrompter):
    """A scripted prompter that shows the questions with their answers."""

    has_keys = False

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__(answers)
        self.out: TextIO = io.StringIO()

    async def accept(self, question: Question, answer: Any) -> Any:
        shown = answer
        if question.form is Form.CONFIRM:
            shown = "Yes" if shown else "No"
        self.out.write(f"? {question.message} {shown}".rstrip() + "\n")
        return await super().accept(question, answer)


@contextmanager
def _change_folder(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Run a command in another current folder and environment; click reads `os.environ`."""
    previous_environ, previous_folder = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(previous_folder)
        os.environ.clear()
        os.environ.update(previous_environ)
