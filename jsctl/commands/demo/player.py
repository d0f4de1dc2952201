"""Plays a walkthrough: each step's command line in this process, with its output, then its checks."""

import io
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import click

from jsctl.env import Env, Streams
from jsctl.errors import ExitStatus, JsctlError
from jsctl.json_text import parse_json
from jsctl.localserver.networks import VARIABLE
from jsctl.localserver.process import module_command
from jsctl.localserver.state import CONTEXTS, load_state
from jsctl.localserver.walkthrough import Check, Step, Walkthrough
from jsctl.prompts.prompter import Form, Question, ScriptedPrompter
from jsctl.signals import Stopped
from jsctl.views.result import Result, Text
from jsctl.views.server import walkthrough as view

Json = dict[str, Any]

_PAUSE_SECONDS = 0.1
_STEADY_SECONDS = 1.0


class Left(Exception):
    """The user has seen enough."""


class CheckFailed(JsctlError):
    """A check of a step does not hold."""


class Player:
    """Plays steps in a folder, which holds the network, too. Use it as a context: it stops the network at its
    end, even when this process is killed."""

    def __init__(self, env: Env, walkthrough: Walkthrough, folder: Path, *, wait_for_key: bool) -> None:
        self._env = env
        self._walkthrough = walkthrough
        self._folder = folder
        self._wait_for_key = wait_for_key
        self._keep = False
        self._shown_part = ""
        self.records: list[Json] = []
        self._environ = {
            name: value
            for name, value in env.environ.items()
            if not name.startswith("NATS_") and name != "XDG_CONFIG_HOME"
        }
        self._environ |= {"XDG_CONFIG_HOME": str(folder / CONTEXTS), VARIABLE: str(folder)}
        self._guard: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Player":
        self._guard = subprocess.Popen(
            module_command("jsctl.localserver.guard", str(self._folder)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        guard = self._guard
        if guard is not None and guard.stdin is not None:
            with suppress(BrokenPipeError):
                guard.stdin.write(b"leave\n" if self._keep else b"")
                guard.stdin.close()
            guard.wait()

    def keep(self) -> None:
        """Leave the network running."""
        self._keep = True

    def play(self, first: int, last: int) -> None:
        """Play the steps up to `last`; show those from `first` on.

        Raises CheckFailed, JsctlError; Left, Stopped when the user ends it.
        """
        if first > 1:
            self._write(view.unshown(first - 1))
        for step in self._walkthrough.steps[:last]:
            shown = step.number >= first
            self._play(step, shown)
            if shown and self._wait_for_key and step.number < last:
                self._ask_for_key()

    def _play(self, step: Step, shown: bool) -> None:
        record: Json = {"step": step.number, "part": step.part, "say": step.say, "commands": [], "checks": []}
        if shown:
            self.records.append(record)
            self._head(step)
        if step.file:
            self._write_file(step, shown)
        output = ""
        for line in step.lines:
            output += self._play_line(step, self._fill(line), shown, record)
        for check in step.checks:
            sentence = self._hold(step, check, output)
            record["checks"].append(sentence)
            if shown:
                self._write(view.held(sentence))

    def _head(self, step: Step) -> None:
        if step.part != self._shown_part:
            self._shown_part = step.part
            self._write(view.part(self._walkthrough.parts[step.part]))
        self._write(view.step(step.number, len(self._walkthrough.steps), step.say))

    def _write_file(self, step: Step, shown: bool) -> None:
        if step.file is None:
            return
        path = self._folder / step.file.name
        text = step.file.text or path.read_text(encoding="utf-8")
        for old, new in step.file.changes:
            if old not in text:
                raise JsctlError(f"step {step.number}: {step.file.name} has no {old!r}")
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        if shown:
            self._write(view.file(step.file))

    def _play_line(self, step: Step, line: str, shown: bool, record: Json) -> str:
        into = f" > {step.to}" if step.to else ""
        if shown:
            self._write(view.command(f"jsctl {line}{into}", self._env.width if self._env.is_terminal else 0))
        prompter = _ShownPrompter(step.answers) if step.answers else None
        is_visible = shown and not self._env.wants_json and not step.silent and not step.to
        status, out, err = self._run(shlex.split(line), show=is_visible, prompter=prompter)
        if step.to:
            (self._folder / step.to).write_text(out, encoding="utf-8")
        record["commands"].append({"command": f"jsctl {line}{into}", "status": status, "output": out + err})
        if status == ExitStatus.INTERRUPTED:
            raise Stopped("stopped")
        if prompter and prompter.unused:
            raise CheckFailed(f"step {step.number} was not asked {', '.join(prompter.unused)}")
        if status != step.status:
            reason = "" if is_visible or not err else f": {err.strip()}"
            raise CheckFailed(
                f"step {step.number} failed: jsctl {line} ended with status {status}, not {step.status}{reason}"
            )
        return out + err

    # -- checks -----------------------------------------------------------------------------------

    def _hold(self, step: Step, check: Check, output: str) -> str:
        """Wait until a check holds, and return it as a sentence. Raises CheckFailed."""
        sentence = view.sentence(check)
        if check.says:
            if not re.search(check.says, output):
                raise CheckFailed(
                    f"step {step.number}, check failed: {sentence}; the output has no {check.says!r}"
                )
            return sentence
        deadline = time.monotonic() + step.seconds
        since = 0.0
        while True:
            reason = self._find_difference(check)
            now = time.monotonic()
            since = 0.0 if reason else since or now
            if not reason and (not step.steady or now - since > _STEADY_SECONDS):
                return sentence
            if reason and (now > deadline or step.steady):
                raise CheckFailed(f"step {step.number}, check failed: {sentence}; {reason}")
            time.sleep(_PAUSE_SECONDS)

    def _find_difference(self, check: Check) -> str:
        """Return how a place differs from a check; empty when it does not."""
        flags = self._fill(self._walkthrough.places[check.place])
        for name, expected in check.streams.items():
            stream, _, consumer = name.partition("/")
            noun = f"consumer info {stream} {consumer}" if consumer else f"stream info {stream}"
            status, out, err = self._run(shlex.split(f"{flags} {noun} --json"))
            if status:
                return err.strip()
            info = parse_json(out)
            values = view.consumer_values(info) if consumer else view.stream_values(info)
            for key, value in expected.items():
                if values[key] != value:
                    return f"{name} has {key} {values[key]:,}"
        if check.only:
            status, out, err = self._run(shlex.split(f"{flags} stream ls --json"))
            if status:
                return err.strip()
            if surplus := sorted(set(parse_json(out)) - set(check.streams)):
                return f"it has {', '.join(surplus)}, too"
        return ""

    # -- running ----------------------------------------------------------------------------------

    def _run(
        self, args: Sequence[str], *, show: bool = False, prompter: "_ShownPrompter | None" = None
    ) -> tuple[int, str, str]:
        """Run a command line. Returns its exit status, output and messages."""
        streams = self._env.streams
        out = _Tee(streams.stdout if show else None)
        err = _Tee(streams.stderr if show else None)
        width = self._env.width if self._env.is_terminal else None
        if prompter:
            prompter.out = out
        inner = Env(Streams(io.StringIO(), out, err, width), self._environ, prompter=prompter)
        if self._env.run_line is None:
            raise RuntimeError("no app runs")
        with _inside(self._folder, self._environ):
            status = self._env.run_line(args, inner)
        if status == ExitStatus.INTERRUPTED:
            raise Stopped("stopped")
        return status, out.getvalue(), err.getvalue()

    def _fill(self, line: str) -> str:
        """Put the servers' addresses into a command line."""
        state = load_state(self._folder)
        for node in state.nodes if state else ():
            line = line.replace(f"{{{node.name}}}", node.url.rpartition("//")[2])
        return line

    def _write(self, result: Result) -> None:
        if not self._env.wants_json:
            self._env.emit(result)
            self._env.streams.stdout.flush()

    def _ask_for_key(self) -> None:
        self._env.streams.stderr.write("-- any key goes on, q ends --")
        self._env.streams.stderr.flush()
        try:
            key = click.getchar()
        finally:
            self._env.streams.stderr.write("\r\x1b[K")
            self._env.streams.stderr.flush()
        if key in ("\x03", "\x04", "\x1b", "q"):
            raise Left


class _Tee(io.StringIO):
    """Keeps what is written, and shows it on another stream as well."""

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


class _ShownPrompter(ScriptedPrompter):
    """Answers questions by their messages and shows both; a list answers a question that comes repeatedly."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__(())
        self._by_message = {
            message: list(answer) if isinstance(answer, list) else [answer]
            for message, answer in answers.items()
        }
        self.out: TextIO = io.StringIO()

    @property
    def unused(self) -> list[str]:
        """The messages of questions that were not asked as often as there are answers."""
        return [message for message, answers in self._by_message.items() if answers]

    async def ask(self, question: Question) -> Any:
        answers = self._by_message.get(question.message)
        answer = answers.pop(0) if answers else ...
        self._answers = [answer]
        shown = question.default if answer is ... else answer
        if question.form is Form.CONFIRM:
            shown = "Yes" if shown else "No"
        self.out.write(f"? {question.message} {shown}".rstrip() + "\n")
        return await super().ask(question)


@contextmanager
def _inside(folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    """Let a command see another current folder and environment: click reads `os.environ`."""
    saved, where = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(where)
        os.environ.clear()
        os.environ.update(saved)
