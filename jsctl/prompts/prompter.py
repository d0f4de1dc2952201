"""Questions, and two prompters: one for use without a terminal, one with prepared answers.

`terminal.TerminalPrompter` asks on a terminal. A questionnaire asks only for what flags left out, through an
`interview.Interview`, in which the user can go back.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from jsctl.errors import BadInput

Check = Callable[[str], Any]
"""Raises ValueError, with the reason, for an answer that is not valid."""

Verify = Callable[[str], Awaitable[None]]
"""A check that needs a server. Raises ValueError like Check."""


def check_filled(answer: str) -> None:
    """Raise ValueError for an empty answer."""
    if not answer.strip():
        raise ValueError("the answer must not be empty")


class GoBack(Exception):
    """The user wants to go back to the previous question."""


class Choice(NamedTuple):
    """An entry of a list: the title that is shown, and the value that it stands for."""

    title: str
    value: Any


class Form(Enum):
    """How a question is answered."""

    TEXT = "text"
    PATH = "path"
    SECRET = "secret"
    SELECT = "select"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    flag: the flag or argument that answers it on the command line. default: a text, the title of a choice, or
    whether yes is the default. help: what `?` shows. note: shown beside the message. can_go_back: whether
    there is a previous question.
    """

    form: Form
    message: str
    flag: str
    default: Any = None
    help: str = ""
    note: str = ""
    check: Check | None = None
    verify: Verify | None = None
    choices: Sequence[Choice] = ()
    can_go_back: bool = False

    @property
    def explanation(self) -> list[str]:
        """The paragraphs that `?` shows: the help, and the flag that answers the question."""
        flag = f"On the command line: {self.flag}"
        return [self.help, flag] if self.help else [flag]

    async def accept(self, answer: str) -> None:
        """Raise ValueError, with the reason, for a text that is not a valid answer."""
        if self.check:
            self.check(answer)
        if self.verify:
            await self.verify(answer)


class Prompter:
    """The interface for asking one question at a time.

    Every method raises Cancelled on ctrl-C, BadInput when it cannot ask, and GoBack when the user goes back.
    has_keys: whether a user can press keys.
    """

    has_keys = True

    async def ask(self, question: Question) -> Any:
        """Return the answer: a text, the value of a choice, or whether it is yes."""
        raise NotImplementedError

    async def text(
        self,
        message: str,
        *,
        flag: str,
        default: str = "",
        check: Check | None = None,
        verify: Verify | None = None,
        help: str = "",
        note: str = "",
    ) -> str:
        """Ask for a line of text."""
        question = Question(Form.TEXT, message, flag, default, help, note, check, verify)
        return str(await self.ask(question))

    async def secret(self, message: str, *, flag: str) -> str:
        """Ask for a text that is not shown."""
        return str(await self.ask(Question(Form.SECRET, message, flag, "")))

    async def select(
        self,
        message: str,
        choices: Sequence[str | Choice],
        *,
        flag: str,
        default: str | None = None,
        help: str = "",
        note: str = "",
    ) -> Any:
        """Ask for one of several choices. default: the title that is selected at first."""
        entries = tuple(c if isinstance(c, Choice) else Choice(c, c) for c in choices)
        return await self.ask(Question(Form.SELECT, message, flag, default, help, note, choices=entries))

    async def confirm(self, message: str, *, flag: str, default: bool = False, help: str = "") -> bool:
        """Ask for yes or no."""
        return bool(await self.ask(Question(Form.CONFIRM, message, flag, default, help)))


class RefusingPrompter(Prompter):
    """The prompter without a terminal: every question fails with the flag that would have answered it."""

    async def ask(self, question: Question) -> Any:
        message = question.message.rstrip("?")
        verb = "use" if question.flag.startswith("--") else "specify"
        raise BadInput(f"cannot ask {message!r} without a terminal", f"{verb} {question.flag}")


class ScriptedPrompter(Prompter):
    """A prompter with prepared answers, which it checks. `...` stands for the default, GoBack for going back.

    answers: in order; or by the question's message, a list for a question that is asked several times, where
    any other question gets its default. asked: the messages of all questions.
    """

    def __init__(self, answers: Sequence[Any] | Mapping[str, Any]) -> None:
        self._in_order: list[Any] | None = None
        self._by_message: dict[str, list[Any]] = {}
        if isinstance(answers, Mapping):
            self._by_message = {
                message: list(answer) if isinstance(answer, list) else [answer]
                for message, answer in answers.items()
            }
        else:
            self._in_order = list(answers)
        self.asked: list[str] = []

    @property
    def unused(self) -> list[str]:
        """The messages of questions that were not asked as often as there are answers."""
        return [message for message, answers in self._by_message.items() if answers]

    async def ask(self, question: Question) -> Any:
        self.asked.append(question.message)
        if self._in_order == []:
            raise BadInput(f"there is no prepared answer for {question.message!r}")
        answers = self._by_message.get(question.message) if self._in_order is None else self._in_order
        answer = answers.pop(0) if answers else ...
        return await self.accept(question, question.default if answer is ... else answer)

    async def accept(self, question: Question, answer: Any) -> Any:
        """Return the value of an answer. Raises BadInput when it is not valid, GoBack."""
        if answer is GoBack:
            raise GoBack
        match question.form:
            case Form.SELECT:
                return self._choose(question, answer)
            case Form.CONFIRM:
                return bool(answer)
            case _:
                try:
                    await question.accept(str(answer))
                except ValueError as error:
                    raise BadInput(f"{question.message}: {error}") from error
                return str(answer)

    @staticmethod
    def _choose(question: Question, answer: Any) -> Any:
        for choice in question.choices:
            if answer in (choice.title, choice.value):
                return choice.value
        raise BadInput(f"{question.message}: {answer!r} is not one of the choices")
