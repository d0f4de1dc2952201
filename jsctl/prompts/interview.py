"""A questionnaire in which the user can go back: earlier answers are then replayed up to the previous
question.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from jsctl.prompts.prompter import Form, GoBack, Prompter, Question

T = TypeVar("T")

KEYS = "? explains a question, shift-tab goes back, ctrl-C quits without changing anything"


class Interview(Prompter):
    """A prompter for the questions of a function, which is called again from its start when the user goes
    back.

    say: writes a line for people. begin: awaited before the first question; when it raises, nothing is asked.
    """

    def __init__(
        self,
        prompter: Prompter,
        say: Callable[[str], None],
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._prompter = prompter
        self._say = say
        self._begin = begin
        self._answers: list[Any] = []
        self._position = 0  #: questions of this round
        self._earlier: dict[str, Any] = {}
        self.has_asked = False
        self._is_completing = False

    async def run(self, questions: Callable[[Prompter], Awaitable[T]]) -> T:
        """Call the function and return its result. It may be called several times, and must do nothing but
        ask.
        """
        while True:
            self._position = 0
            try:
                return await questions(self)
            except GoBack:
                self._answers.pop()

    @property
    def answers(self) -> int:
        """How many questions were answered."""
        return len(self._answers)

    async def complete(self, questions: Callable[[Prompter], Awaitable[T]]) -> T:
        """Return the function's result for the answers so far and the defaults of all other questions.

        A question for text that has no default is answered with the name of its flag in capitals. Raises what
        the function raises.
        """
        self._position, self._is_completing = 0, True
        return await questions(self)

    async def ask(self, question: Question) -> Any:
        position, self._position = self._position, self._position + 1
        if position < len(self._answers):
            return self._answers[position]
        if self._is_completing:
            return _assume_answer(question)
        if not self.has_asked:
            if self._begin:
                await self._begin()
            self.has_asked = True
            if self._prompter.has_keys:
                self._say(KEYS)
        answer = await self._prompter.ask(
            replace(question, default=self._get_default(question), can_go_back=position > 0)
        )
        self._answers.append(answer)
        if question.form is not Form.SECRET:
            self._earlier[question.message] = answer
        return answer

    def _get_default(self, question: Question) -> Any:
        """Return the answer from before the user went back; without one, the question's own default."""
        if question.message not in self._earlier:
            return question.default
        answer = self._earlier[question.message]
        return next((choice.title for choice in question.choices if choice.value == answer), answer)


def _assume_answer(question: Question) -> Any:
    """Return the value to assume for a question that was not asked."""
    if question.form is Form.SELECT:
        titles = [choice.title for choice in question.choices]
        return question.choices[titles.index(question.default) if question.default in titles else 0].value
    if question.form is Form.CONFIRM:
        return bool(question.default)
    placeholder = question.flag.lstrip("-").upper() if " " not in question.flag else "NAME"
    return question.default if question.default or not question.check else placeholder
