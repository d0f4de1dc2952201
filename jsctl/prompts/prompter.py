"""The interface for questions, and two implementations: without a terminal, and with prepared answers.

`terminal.TerminalPrompter` asks on a terminal. A questionnaire asks only for what flags left out.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from jsctl.errors import BadInput

Check = Callable[[str], Any]
"""Raises ValueError, with the reason, for an answer that is not valid."""


class Choice(NamedTuple):
    """An entry of a list: the title that is shown, and the value that it stands for."""

    title: str
    value: Any


class Prompter(Protocol):
    """Asks one question at a time.

    flag: the flag or argument that answers the question on the command line. Every method raises Cancelled
    on ctrl-C, and BadInput when it cannot ask.
    """

    async def text(
        self, message: str, *, flag: str, default: str = "", check: Check | None = None, help: str = ""
    ) -> str: ...

    async def secret(self, message: str, *, flag: str) -> str: ...

    async def select(
        self,
        message: str,
        choices: Sequence[str | Choice],
        *,
        flag: str,
        default: str | None = None,
        help: str = "",
    ) -> Any: ...

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool: ...


class RefusingPrompter:
    """For use without a terminal: every question fails with the flag that would have answered it."""

    async def text(
        self, message: str, *, flag: str, default: str = "", check: Check | None = None, help: str = ""
    ) -> str:
        raise self._refusal(message, flag)

    async def secret(self, message: str, *, flag: str) -> str:
        raise self._refusal(message, flag)

    async def select(
        self,
        message: str,
        choices: Sequence[str | Choice],
        *,
        flag: str,
        default: str | None = None,
        help: str = "",
    ) -> Any:
        raise self._refusal(message, flag)

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool:
        raise self._refusal(message, flag)

    @staticmethod
    def _refusal(message: str, flag: str) -> BadInput:
        return BadInput(f"cannot ask {message.rstrip('?')!r} without a terminal", f"give {flag}")


class ScriptedPrompter:
    """Answers questions from a list, in order, and checks the answers; `...` stands for the default.

    asked: the messages of all questions.
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def _next(self, message: str, default: Any) -> Any:
        self.asked.append(message)
        if not self._answers:
            raise BadInput(f"there is no prepared answer for {message!r}")
        answer = self._answers.pop(0)
        return default if answer is ... else answer

    async def text(
        self, message: str, *, flag: str, default: str = "", check: Check | None = None, help: str = ""
    ) -> str:
        answer = str(self._next(message, default))
        if check:
            try:
                check(answer)
            except ValueError as error:
                raise BadInput(f"{message}: {error}") from error
        return answer

    async def secret(self, message: str, *, flag: str) -> str:
        return str(self._next(message, ""))

    async def select(
        self,
        message: str,
        choices: Sequence[str | Choice],
        *,
        flag: str,
        default: str | None = None,
        help: str = "",
    ) -> Any:
        answer = self._next(message, default)
        for choice in map(as_choice, choices):
            if answer in (choice.title, choice.value):
                return choice.value
        raise BadInput(f"{message}: {answer!r} is not one of the choices")

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool:
        return bool(self._next(message, default))


def as_choice(choice: str | Choice) -> Choice:
    """Return a choice; a string stands for itself."""
    return choice if isinstance(choice, Choice) else Choice(choice, choice)
