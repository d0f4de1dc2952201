"""The player of walkthroughs: it runs each step's command line in this process, shows its output, and then
checks it.
"""

import re
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from jsctl.base.files import list_locks
from jsctl.base.json_text import parse_json
from jsctl.commands.demo.line_runner import LineRunner, ShownPrompter
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.localserver.process import build_module_command
from jsctl.localserver.walkthrough import Check, Step, Walkthrough
from jsctl.views.result import Result
from jsctl.views.server import walkthrough as view

Json = dict[str, Any]

_PAUSE_SECONDS = 0.1
_STEADY_SECONDS = 1.0
_REPORT = re.compile(r"\b(report|list)\b")
"""Command lines that change nothing."""


class UserQuit(Exception):
    """The user quit the walkthrough before its end."""


class CheckFailed(JsctlError):
    """A check of a step failed."""


class Player:
    """A player of steps in a folder, which also holds the network.

    A context manager: it stops the network at its end, even when this process is killed.
    """

    def __init__(self, env: Env, walkthrough: Walkthrough, folder: Path, *, wait_for_key: bool) -> None:
        self._env = env
        self._walkthrough = walkthrough
        self._folder = folder
        self._wait_for_key = wait_for_key
        self._keep = False
        self._shown_part = ""
        self.records: list[Json] = []
        self._runner = LineRunner(env, folder)
        self._guard: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Player":
        self._guard = subprocess.Popen(
            build_module_command("jsctl.localserver.guard", str(self._folder)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=list_locks(self._folder),  # its folder stays until the servers have stopped
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

    def play(self, first: int, last: int) -> Iterator[Result]:
        """Play the steps up to `last`; yield what must be shown of those from `first` on.

        Raises CheckFailed, JsctlError; Left, Stopped when the user ends it.
        """
        if first > 1:
            yield view.steps_not_shown(first - 1)
        for step in self._walkthrough.steps[:last]:
            shown = step.number >= first
            yield from self._play(step, shown)
            if shown and self._wait_for_key and step.number < last:
                self._ask_for_key()

    def _play(self, step: Step, shown: bool) -> Iterator[Result]:
        record: Json = {
            "step": step.number,
            "part": step.part,
            "say": step.say,
            "note": step.note,
            "commands": [],
            "checks": [],
        }
        if shown:
            self.records.append(record)
            yield from self._show_heading(step)
        if step.file:
            self._write_file(step)
            if shown:
                yield view.file(step.file)
        output = ""
        for line in step.lines:
            output += yield from self._play_line(step, self._runner.fill(line), shown, record)
        if self._env.is_terminal and any(check.says for check in step.checks):
            output = self._run_in_pipe(step) or output
        for check in step.checks:
            sentence = self._wait_for_check(step, check, output)
            record["checks"].append(sentence)
            if shown:
                yield view.check_passed(sentence)

    def _show_heading(self, step: Step) -> Iterator[Result]:
        if step.part != self._shown_part:
            self._shown_part = step.part
            yield view.part(self._walkthrough.parts[step.part])
        yield view.step(step, len(self._walkthrough.steps))
        if step.note:
            yield view.note(step.note)

    def _write_file(self, step: Step) -> None:
        if step.file is None:
            return
        path = self._folder / step.file.name
        text = step.file.text or path.read_text(encoding="utf-8")
        for old, new in step.file.changes:
            if old not in text:
                raise JsctlError(f"step {step.number}: {step.file.name} has no {old!r}")
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    def _play_line(self, step: Step, line: str, shown: bool, record: Json) -> Generator[Result, None, str]:
        into = f" > {step.to}" if step.to else ""
        if shown:
            yield view.command(f"jsctl {line}{into}", self._env.width if self._env.is_terminal else 0)
        prompter = ShownPrompter(step.answers) if step.answers else None
        is_visible = shown and not self._env.wants_json and not step.silent and not step.to
        status, out, err = self._runner.run(line, show=is_visible, prompter=prompter)
        if step.to:
            (self._folder / step.to).write_text(out, encoding="utf-8")
        record["commands"].append({"command": f"jsctl {line}{into}", "status": status, "output": out + err})
        if prompter and prompter.unused:
            raise CheckFailed(f"step {step.number} was not asked {', '.join(prompter.unused)}")
        if status != step.status:
            reason = "" if is_visible or not err else f": {err.strip()}"
            raise CheckFailed(
                f"step {step.number} failed: jsctl {line} ended with status {status},"
                f" not {step.status}{reason}"
            )
        return out + err

    def _run_in_pipe(self, step: Step) -> str:
        """Run a report again in a pipe and return its output: a terminal may be too narrow for all
        columns.
        """
        if not all(_REPORT.search(line) for line in step.lines):
            return ""
        output = ""
        for line in step.lines:
            prompter = ShownPrompter(step.answers) if step.answers else None
            _, out, err = self._runner.run(line, prompter=prompter)
            output += out + err
        return output

    # -- checks -----------------------------------------------------------------------------------

    def _wait_for_check(self, step: Step, check: Check, output: str) -> str:
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
        """Return how a value differs from what a check expects; empty when it does not."""
        flags = self._walkthrough.places[check.place]
        for name, expected in check.streams.items():
            stream, _, consumer = name.partition("/")
            noun = f"consumer info {stream} {consumer}" if consumer else f"stream info {stream}"
            status, out, err = self._runner.run(f"{flags} {noun} --json")
            if status:
                return err.strip()
            info = parse_json(out)
            values = view.consumer_values(info) if consumer else view.stream_values(info)
            for key, value in expected.items():
                if values[key] < value if key == "idle" else values[key] != value:
                    return f"{name} has {key} {values[key]:,}"
        if check.only:
            status, out, err = self._runner.run(f"{flags} stream ls --json")
            if status:
                return err.strip()
            if surplus := sorted(set(parse_json(out)) - set(check.streams)):
                return f"it has {', '.join(surplus)}, too"
        return ""

    def _ask_for_key(self) -> None:
        self._env.streams.stderr.write("-- any key continues, q ends --")
        self._env.streams.stderr.flush()
        try:
            key = click.getchar()
        finally:
            self._env.streams.stderr.write("\r\x1b[K")
            self._env.streams.stderr.flush()
        if key in ("\x03", "\x04", "\x1b", "q"):
            raise UserQuit
