"""Questions, behind one interface. A questionnaire asks for what flags left out and nothing else.

Three forms: `terminal.TerminalPrompter` asks with questionary; `ScriptedPrompter` takes prepared
answers; `RefusingPrompter` stands in where there is no terminal and names the missing flag.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from jsctl.errors import BadInput

Check = Callable[[str], Any]
"""Raises ValueError with the reason when an answer cannot be used."""


class Choice(NamedTuple):
    """One of a list to pick from: what is shown, and what it means."""

    title: str
    value: Any


class Prompter(Protocol):
    """Asks one question at a time. `flag` names the flag or argument that would have answered it.

    Every method raises Cancelled when the user leaves with ctrl-C, BadInput when nothing can be asked.
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
    """No terminal: the error names the flag that would have answered."""

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
        return BadInput(f"no terminal to ask {message.rstrip('?')!r} on", f"give {flag}")


class ScriptedPrompter:
    """Answers prepared in order, checked as typed ones are; `asked` keeps the questions.

    `...` stands for the default.
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def _next(self, message: str, default: Any) -> Any:
        self.asked.append(message)
        if not self._answers:
            raise BadInput(f"no answer prepared for {message!r}")
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
        raise BadInput(f"{message}: {answer!r} is none of the choices")

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool:
        return bool(self._next(message, default))


def as_choice(choice: str | Choice) -> Choice:
    """A plain string means itself."""
    return choice if isinstance(choice, Choice) else Choice(choice, choice)
