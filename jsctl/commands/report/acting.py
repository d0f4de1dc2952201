"""The changes that keys of `jsctl report --watch --allow-changes` make: dry runs, runs, and their journal."""

import contextlib
import copy
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from jsctl.base.command_lines import format_arguments
from jsctl.base.files import PRIVATE, escape_path
from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.base.user_folders import find_state_folder
from jsctl.calls import Call
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, CommandError, ExitStatus, JsctlError
from jsctl.jetstream.message.data_loss import NOTHING, DataLoss, add_losses
from jsctl.monitor.report.places import Places
from jsctl.views.board import Board
from jsctl.views.report.verbs import ChangePage, Outcome, build_command, show_dry_run, show_outcome


class Changes:
    """The changes of a screen. places: their numbers are those of pages. is_by_name: whether the command line
    names contexts, which variables do not go before."""

    def __init__(self, env: Env, places: Places, *, is_by_name: bool) -> None:
        self._env = env
        self._places = places
        self._is_by_name = is_by_name
        self._numbers = count(1)
        self._dry_runs: dict[ChangePage, Outcome] = {}
        self._losses: dict[ChangePage, DataLoss] = {}  #: what the last dry run showed
        self._outcomes: dict[int, Outcome] = {}
        self._path = find_state_folder(env.environ) / "jsctl" / "changes.jsonl"

    async def fetch(self, page: ChangePage, board: Board) -> Board:
        """Return the dry run of a change; once its name was typed, what it did, and do it only once."""
        flags = self._places.list_flags(page.place)
        if page.number:
            if page.number not in self._outcomes:
                self.forget()
                shown = self._losses.get(replace(page, number=0), NOTHING)
                await self._change(page.number, build_command(page, flags, is_dry=False), shown)
            return show_outcome(page, self._outcomes[page.number], escape_path(self._path), board)
        if page not in self._dry_runs:
            losses: list[DataLoss] = []
            dry_run = await self._run(build_command(page, flags, is_dry=True), losses.append)
            self._dry_runs, self._losses = {page: dry_run}, {page: add_losses(losses[-1:])}
        return show_dry_run(page, self._dry_runs[page], lambda: next(self._numbers), board)

    def forget(self) -> None:
        """Make the next dry run anew."""
        self._dry_runs = {}

    def describe(self) -> str:
        """Return what was done, in a line; empty for nothing."""
        lines = [
            f"{outcome.line}{': ' + outcome.error if outcome.error else ''}"
            for outcome in self._outcomes.values()
        ]
        is_kept = any(outcome.is_kept for outcome in self._outcomes.values())
        return "\n".join([*lines, *[f"written to {escape_path(self._path)}"] * is_kept])

    async def _change(self, number: int, words: Sequence[str], shown: DataLoss) -> None:
        """Run a command line, with a line of the journal before and after it, and keep its outcome. It is
        refused if it deletes more than what was shown."""

        def compare(loss: DataLoss) -> None:
            if loss.exceeds(shown):
                before = f"the page showed {shown or 'none'}"
                raise JsctlError(f"nothing was done: this now deletes {loss}, {before}", "look again")

        line = format_arguments(words)
        try:
            self._write({"line": line, "state": "started"})
        except OSError as error:
            reason = f"cannot write {escape_path(self._path)}: {error.strerror}; nothing was done"
            self._outcomes[number] = Outcome(line, "", reason, is_kept=False)
            return
        outcome = Outcome(line, "", "it was interrupted; whether it was done is not known")
        try:
            outcome = await self._run(words, compare)
        finally:
            self._outcomes[number] = outcome
            state = "failed" if outcome.error else "done"
            entry: dict[str, object] = {
                "line": line,
                "state": state,
                "answer": outcome.text,
                "error": outcome.error or None,
            }
            with contextlib.suppress(OSError):  # the line before it says that it was started
                self._write(entry)

    async def _run(self, words: Sequence[str], on_loss: Callable[[DataLoss], None]) -> Outcome:
        parent, line = copy.copy(self._env), format_arguments(words)
        parent.on_loss = on_loss
        parent.flags = self._env.get_typed_flags() if self._is_by_name else dict(self._env.flags)
        call = Call(self._env.run_line, words, json=False, parent=parent)
        try:
            text, reason = await call.run_async(), ""
        except CommandError as error:
            is_failure = int(error.status) != ExitStatus.DIFFERENT or not error.data
            text, reason = error.data or "", str(error) if is_failure else ""
        return Outcome(line, "\n".join([*call.messages, str(text)]), reason)

    def _write(self, entry: dict[str, object]) -> None:
        at = format_rfc3339(seconds_to_ns(self._env.clock()))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._path, "a", opener=_open_private) as file:
            file.write(json.dumps({"at": at, **entry}, ensure_ascii=False) + "\n")


async def permit_changes(env: Env, targets: Sequence[Settings], *, is_watch: bool) -> None:
    """Ask for the names of contexts that are marked as production. Raises BadInput without a screen."""
    if not (is_watch and env.has_screen and env.can_ask):
        raise BadInput("--allow-changes needs --watch on a terminal", "it is for the keys of the screen")
    for name in dict.fromkeys(one.context for one in targets if one.production and one.context):
        question = f"Context {name} is marked as production; type its name to allow changes"
        typed = await env.prompter.text(question, flag="--allow-changes")
        if typed.strip() != name:
            raise BadInput(f"that is not {name}", "leave out --allow-changes to look only")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)
