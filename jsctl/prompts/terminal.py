"""Questions on a terminal, with questionary. They are written to stderr; stdout is for data."""

from collections.abc import Sequence
from typing import Any

import questionary
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.output import create_output

from jsctl.errors import Cancelled
from jsctl.prompts.prompter import Check, Choice, as_choice

_STYLE = questionary.Style(
    [
        ("qmark", "fg:ansigreen bold"),
        ("question", "bold"),
        ("answer", "fg:ansicyan"),
        ("pointer", "fg:ansicyan bold"),
    ]
)
_LONG = 12  #: with more choices than this, typing filters the list


def _select_text(buffer: Buffer) -> None:
    """Select the default text, so that typing replaces it."""
    if buffer.text:
        buffer.cursor_position = 0
        buffer.start_selection()
        buffer.cursor_position = len(buffer.text)
        if buffer.selection_state:
            buffer.selection_state.enter_shift_mode()


class TerminalPrompter:
    """Implements `Prompter` on the controlling terminal."""

    def __init__(self, stderr: Any) -> None:
        self._output = create_output(stdout=stderr)

    async def text(
        self, message: str, *, flag: str, default: str = "", check: Check | None = None, help: str = ""
    ) -> str:
        def valid(answer: str) -> bool | str:
            try:
                if check:
                    check(answer)
            except ValueError as error:
                return str(error)
            return True

        question = questionary.text(
            message,
            default=default,
            validate=valid,
            instruction=help or None,
            qmark="?",
            style=_STYLE,
            output=self._output,
        )
        _select_text(question.application.current_buffer)
        return str(await self._ask(question))

    async def secret(self, message: str, *, flag: str) -> str:
        return str(
            await self._ask(questionary.password(message, qmark="?", style=_STYLE, output=self._output))
        )

    async def select(
        self,
        message: str,
        choices: Sequence[str | Choice],
        *,
        flag: str,
        default: str | None = None,
        help: str = "",
    ) -> Any:
        entries = [questionary.Choice(c.title, value=c.value) for c in map(as_choice, choices)]
        is_long = len(entries) > _LONG
        return await self._ask(
            questionary.select(
                message,
                entries,
                default=next((entry for entry in entries if entry.title == default), None),
                qmark="?",
                instruction=help or None,
                style=_STYLE,
                output=self._output,
                use_search_filter=is_long,
                use_jk_keys=not is_long,
            )
        )

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool:
        return bool(
            await self._ask(
                questionary.confirm(message, default=default, qmark="?", style=_STYLE, output=self._output)
            )
        )

    async def _ask(self, question: questionary.Question) -> Any:
        try:
            return await question.unsafe_ask_async()
        except KeyboardInterrupt:
            raise Cancelled("interrupted; nothing was changed") from None
