"""The common parts of backup, restore and copy: the observer that talks to the user, flags of restores."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from jsctl.commands.cli import declare_all, destructive
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.env import Env
from jsctl.jetstream.backup.events import (
    CopyInterrupted,
    DigestMissing,
    Event,
    Phase,
    Question,
    ReduceStream,
    RemoveUnfinished,
    ReplaceBackup,
    TakeMessages,
)
from jsctl.jetstream.stream import protection
from jsctl.views.shared import transfers as view

restore_flags = declare_all(
    loss_flags,
    destructive(
        "Remove what an unfinished restore left behind, without asking",
        "Check the backup, and only show what would be restored",
    ),
)
"""The flags of restores that permit to remove something, for a `TerminalObserver`."""


_NO_LOSS = LossOptions(allow_data_loss=False, unprotect=())


class TerminalObserver:
    """An observer that writes events to stderr, asks questions and shows progress bars."""

    def __init__(
        self,
        env: Env,
        permits: LossOptions = _NO_LOSS,
        *,
        progress: bool = True,
        force: bool = False,
    ) -> None:
        """Set what to show and ask.

        progress: show bars, if there is a terminal. force: answer questions with yes, and those about
        messages that would be lost if `permits` says so.
        """
        self._env = env
        self._permits = permits
        self._progress = progress
        self._given = {"--force": force, "--allow-data-loss": permits.allow_data_loss}

    def notify(self, event: Event) -> None:
        if intent := view.beginning(event):
            self._env.announce(intent)
        is_doubt = isinstance(event, (CopyInterrupted, DigestMissing))
        (self._env.say if is_doubt else self._env.inform)(view.sentence(event))

    async def confirm(self, question: Question) -> None:
        needed = [] if isinstance(question, TakeMessages) else ["--force"]
        if isinstance(question, (RemoveUnfinished, ReduceStream, TakeMessages)):
            if question.loses or isinstance(question, ReduceStream):
                protection.refuse_protected([{"config": question.config}], self._permits.unprotect)
            needed += ["--allow-data-loss"] * question.loses
        missing = [flag for flag in needed if not self._given[flag]]
        flag = "--overwrite" if isinstance(question, ReplaceBackup) else " ".join(missing)
        intent = view.intent(question)
        await self._env.confirm(intent, force=not missing, flag=flag)
        if "--allow-data-loss" in needed and not missing:
            self._env.say(f"[{self._env.place}] going to {intent.action}")

    def progress(self, phase: Phase, total: int) -> AbstractContextManager[Callable[[int], None]]:
        shown_total = total if self._progress else 0
        return self._env.progress(view.progress_label(phase), shown_total, in_bytes=phase.kind != "compare")
