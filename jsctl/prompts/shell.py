"""The prompt of `jsctl shell`, with history, command lines of several rows, and completion while typing."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output

from jsctl.base.posix import make_private_folder, open_private
from jsctl.prompts.ending import raise_typed_interrupt, restoring_terminal


class Candidate(NamedTuple):
    """A completion. text: replaces the line from `start`. shown, help: what the menu shows."""

    text: str
    start: int
    shown: str
    help: str = ""


class ShellPrompt:
    """A prompt for lines.

    history: the file of earlier lines; if it cannot be written, there is no history. complete: returns the
    completions of a line up to the cursor; called in a thread. is_complete: whether a text needs no further
    row. should_keep: whether a line may be written to the history.
    """

    def __init__(
        self,
        stderr: Any,
        history: Path,
        complete: Callable[[str], Iterable[Candidate]],
        is_complete: Callable[[str], bool],
        should_keep: Callable[[str], bool],
    ) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=_open_history(history, should_keep),
            completer=_Completer(complete),
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            multiline=Condition(lambda: not is_complete(self._session.default_buffer.text)),
            prompt_continuation="... ",
            key_bindings=_bind_tab(complete),
            output=create_output(stdout=stderr),
        )

    async def read(self, place: str, last_status: int) -> str | None:
        """Return a line, empty after ctrl-C; None when the user ends the session.

        place: shown before the line. last_status: the exit status of the previous line, shown unless 0.
        Raises KeyboardInterrupt for ctrl-C right after a line.
        """
        status_text = [("ansired", f"[{last_status}] ")] if last_status else []
        prompt = FormattedText([*status_text, ("ansicyan", place), ("bold", "> ")])
        try:
            # The session handles signals; a prompt that is about to end would lose them.
            with restoring_terminal(self._session.app):
                line = await self._session.prompt_async(prompt, handle_sigint=False)
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None
        raise_typed_interrupt(self._session.input)
        return line


def _bind_tab(complete: Callable[[str], Iterable[Candidate]]) -> KeyBindings:
    """Return a binding of tab that inserts a single completion at once, and a space unless it is a folder.

    prompt_toolkit would ignore tab while a menu is still being built, which typing triggers.
    """
    bindings = KeyBindings()

    @bindings.add("tab")
    def press(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and len(buffer.complete_state.completions) > 1:
            buffer.complete_next()
        else:
            event.app.create_background_task(insert(buffer))

    async def insert(buffer: Buffer) -> None:
        text = buffer.document.text_before_cursor
        candidates = await asyncio.to_thread(lambda: list(complete(text)))
        if buffer.document.text_before_cursor != text:
            return
        if len(candidates) == 1:
            buffer.cancel_completion()
            buffer.delete_before_cursor(len(text) - candidates[0].start)
            is_open = candidates[0].shown.endswith("/") or buffer.document.current_char == " "
            buffer.insert_text(candidates[0].text + " " * (not is_open))
        elif not buffer.complete_state:
            buffer.start_completion(insert_common_part=True)

    return bindings


class _Completer(Completer):
    def __init__(self, complete: Callable[[str], Iterable[Candidate]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        return iter(())  # prompts call get_completions_async

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        # With ThreadedCompleter, the prompt would wait for its thread when the line is entered.
        text = document.text_before_cursor
        for candidate in await asyncio.to_thread(lambda: list(self._complete(text))):
            yield Completion(
                candidate.text,
                start_position=candidate.start - len(text),
                display=candidate.shown,
                display_meta=candidate.help,
            )


class _History(FileHistory):
    def __init__(self, path: Path, should_keep: Callable[[str], bool]) -> None:
        super().__init__(path)
        self._should_keep = should_keep

    def store_string(self, string: str) -> None:
        if self._should_keep(string):
            super().store_string(string)


def _open_history(path: Path, should_keep: Callable[[str], bool]) -> History:
    try:
        make_private_folder(path.parent)
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    except OSError:
        return InMemoryHistory()
    return _History(path, should_keep)


def read_history(path: Path) -> list[str]:
    """Return the lines of a history, the oldest first; none if it cannot be read."""
    try:
        return list(FileHistory(path).load_history_strings())[::-1]
    except OSError:
        return []
