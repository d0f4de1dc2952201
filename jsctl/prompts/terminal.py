"""Questions on a terminal, with questionary. They are written to stderr; stdout is for data."""

import textwrap
from collections.abc import Callable
from typing import Any

import questionary
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent, get_common_complete_suffix
from prompt_toolkit.filters import Condition, has_selection, has_validation_error, to_filter
from prompt_toolkit.key_binding import KeyBindings, KeyBindingsBase, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import ConditionalContainer, Window
from prompt_toolkit.output import create_output
from questionary.prompts.common import Choice, InquirerControl

from jsctl.base.loops import enter_event_loop
from jsctl.errors import Cancelled
from jsctl.prompts.ending import raise_typed_interrupt, restoring_terminal
from jsctl.prompts.prompter import Form, GoBack, Prompter, Question


class _Picker(InquirerControl):
    """questionary's list; its own shows all entries again when none matches, and enter takes the first."""

    @property
    def filtered_choices(self) -> list[Choice]:
        words = (self.search_filter or "").lower()
        matches = [choice for choice in self.choices if words in str(choice.title).lower()]
        self.found_in_search = bool(matches)
        return matches

    @property
    def choice_count(self) -> int:
        return max(len(self.filtered_choices), 1)

    def is_selection_valid(self) -> bool:
        return True  # there are no separators

    def show(self) -> list[tuple[str, str]]:
        """Return what the list shows now."""
        if self.filtered_choices:
            tokens: list[tuple[str, str]] = self._get_choice_tokens()  # type: ignore[no-untyped-call]
            return tokens
        return [("class:text", "   nothing matches; backspace removes what was typed")]


def build_picker(message: str, choices: list[Choice], default: Choice | None, **common: Any) -> Any:
    """Return the question of a list. common: what every question takes."""
    prompt = questionary.select(
        message, choices, default=default, use_search_filter=True, use_jk_keys=False, **common
    )
    picker = find_picker(prompt)
    picker.__class__ = _Picker  # questionary offers no other way
    picker.text = picker.show
    return prompt


def find_picker(prompt: questionary.Question) -> Any:
    """Return the list of a question."""
    windows = prompt.application.layout.find_all_windows()
    return next(window.content for window in windows if isinstance(window.content, InquirerControl))


def build_key_bindings(prompt: questionary.Question) -> KeyBindings:
    """Return the keys of a list: any character filters, also one that is pasted, and enter takes an entry if
    there is one."""
    keys, picker = KeyBindings(), find_picker(prompt)

    @keys.add(Keys.ControlM, eager=True, filter=Condition(lambda: not picker.filtered_choices))
    def ignore(event: KeyPressEvent) -> None:
        pass

    @keys.add(Keys.Any)
    @keys.add(Keys.BracketedPaste, eager=True)
    def filter_by(event: KeyPressEvent) -> None:
        for character in event.data.strip():
            if character.isprintable():
                picker.add_search_character(character)

    return keys


_STYLE = questionary.Style(
    [
        ("qmark", "fg:ansigreen bold"),
        ("question", "bold"),
        ("answer", "fg:ansicyan"),
        ("pointer", "fg:ansicyan bold"),
    ]
)
_EDITING_KEYS = (
    *(("c-" + letter,) for letter in "abdefktuwy"),
    *(("escape", letter) for letter in "bdfu"),
    ("escape", "backspace"),
)
"""Keys of readline that edit the default or move in it; any other key replaces it."""


class TerminalPrompter(Prompter):
    """A prompter on the controlling terminal."""

    def __init__(
        self, stderr: Any, say: Callable[[str], None], get_place: Callable[[], str] = lambda: ""
    ) -> None:
        """Set the functions that write a line for people, without control characters, and that say where the
        answers take effect."""
        self._say = say
        self._get_place = get_place
        self._output = create_output(stdout=stderr)

    async def ask(self, question: Question) -> Any:
        default = question.default
        await enter_event_loop()
        while True:
            prompt = self._build_question(question, default)
            prompt.application.key_bindings = merge_key_bindings(
                [prompt.application.key_bindings or KeyBindings(), self._bind_keys(question, prompt)]
            )
            try:
                # The command handles signals; a prompt that is about to end would lose them.
                with restoring_terminal(prompt.application):
                    answer = await prompt.application.run_async(handle_sigint=False)
                raise_typed_interrupt(prompt.application.input)
            except (KeyboardInterrupt, EOFError):  # ctrl-D is EOFError
                raise Cancelled("interrupted; nothing was changed") from None
            if question.form not in (Form.TEXT, Form.PATH) or not question.verify:
                return answer
            try:
                await question.verify(answer)
            except ValueError as error:
                self._explain(str(error))
                default = answer
            else:
                return answer

    def _build_question(self, question: Question, default: Any) -> questionary.Question:
        message = f"{question.message} {question.note}".rstrip()
        place = self._get_place()
        mark = f"[{place}] ?" if place else "?"  # as with nats
        common: dict[str, Any] = {"qmark": mark, "style": _STYLE, "output": self._output}
        match question.form:
            case Form.SECRET:
                return questionary.password(message, **common)
            case Form.CONFIRM:
                # The letters after the first one of "yes" belong to this question, too.
                return questionary.confirm(message, default=bool(default), auto_enter=False, **common)
            case Form.SELECT:
                entries = [questionary.Choice(c.title, value=c.value) for c in question.choices]
                chosen = next((entry for entry in entries if entry.title == default), None)
                picker: questionary.Question = build_picker(message, entries, chosen, **common)
                return picker
            case Form.PATH:
                prompt = questionary.path(
                    message, default=str(default or ""), validate=self._build_validator(question), **common
                )
                _unfold_reasons(prompt)
                return prompt
            case Form.TEXT:
                prompt = questionary.text(
                    message, default=str(default or ""), validate=self._build_validator(question), **common
                )
                _unfold_reasons(prompt)
                _select_text(prompt.application.current_buffer)
                return prompt

    def _bind_keys(self, question: Question, prompt: questionary.Question) -> KeyBindingsBase:
        """Return the keys of a question: help, ctrl-D, going back, pasting, and those of readline in a
        default."""
        keys = KeyBindings()
        buffer = prompt.application.current_buffer
        is_typed = question.form in (Form.TEXT, Form.PATH, Form.SECRET)
        is_untouched = Condition(
            lambda: not is_typed or not buffer.text or buffer.selection_state is not None
        )

        @keys.add("?", eager=True, filter=is_untouched)
        def explain(event: KeyPressEvent) -> None:
            run_in_terminal(lambda: self._explain(*question.explanation))

        if not is_typed:

            @keys.add("c-d", eager=True)
            def end(event: KeyPressEvent) -> None:
                event.app.exit(exception=EOFError())

        if question.can_go_back:

            @keys.add("s-tab", eager=True)
            def go_back(event: KeyPressEvent) -> None:
                event.app.exit(exception=GoBack())

        if is_typed:

            @keys.add(Keys.BracketedPaste, eager=True)
            def paste(event: KeyPressEvent) -> None:
                if buffer.selection_state is not None:
                    buffer.cut_selection()
                buffer.insert_text(
                    join_lines(event.data) if question.form is Form.TEXT else event.data.strip("\r\n")
                )

        if question.form is Form.PATH:

            @keys.add("tab", eager=True, filter=Condition(lambda: not _has_menu(buffer)))
            def complete(event: KeyPressEvent) -> None:
                _complete(buffer)

        if question.form is Form.SELECT:
            return merge_key_bindings([keys, build_key_bindings(prompt)])

        if question.form is Form.TEXT:
            for sequence in _EDITING_KEYS:

                @keys.add(*sequence, eager=True, filter=has_selection)
                def edit(event: KeyPressEvent) -> None:
                    event.current_buffer.exit_selection()
                    event.key_processor.feed_multiple(event.key_sequence, first=True)

        return keys

    def _build_validator(self, question: Question) -> Any:
        """Return the function that questionary calls for each text.

        It returns True, or the reason why the text is not valid, in lines that fit the terminal.
        """

        def validate(answer: str) -> bool | str:
            try:
                if question.check:
                    question.check(answer)
            except ValueError as error:
                return textwrap.fill(str(error), self._columns)
            return True

        return validate

    @property
    def _columns(self) -> int:
        """Columns that lines of text may take."""
        return max(self._output.get_size().columns, 20) - 1

    def _explain(self, *paragraphs: str) -> None:
        """Write paragraphs in lines that fit the terminal."""
        for paragraph in paragraphs:
            for line in textwrap.wrap(paragraph, self._columns, initial_indent="  ", subsequent_indent="  "):
                self._say(line)


def _has_menu(buffer: Buffer) -> bool:
    return buffer.complete_state is not None and bool(buffer.complete_state.completions)


def _complete(buffer: Buffer) -> None:
    """Complete a path at once. prompt_toolkit builds its menu after each key, and ignores tabs until then."""
    document = buffer.document
    found = list(buffer.completer.get_completions(document, CompleteEvent(completion_requested=True)))
    buffer.complete_state = CompletionState(document, found)
    if len(found) == 1:
        buffer.complete_next()
    elif common := get_common_complete_suffix(document, found):
        buffer.insert_text(common)


def join_lines(text: str) -> str:
    """Return pasted text as an answer on one line, in which lines are the entries of a list."""
    lines = [line for line in text.splitlines() if line.strip()]
    return ", ".join(line.strip(" \t,") for line in lines) if len(lines) > 1 else "".join(lines)


def _unfold_reasons(prompt: questionary.Question) -> None:
    """Show all lines of the reason why an answer is not valid; prompt_toolkit shows only the first."""
    for container in prompt.application.layout.walk():
        is_reason = isinstance(container, ConditionalContainer) and container.filter is has_validation_error
        if is_reason and isinstance(window := container.get_children()[0], Window):
            window.height = None
            window.dont_extend_height = to_filter(True)


def _select_text(buffer: Buffer) -> None:
    """Select the default text, so that typing replaces it."""
    if buffer.text:
        buffer.cursor_position = 0
        buffer.start_selection()
        buffer.cursor_position = len(buffer.text)
        if buffer.selection_state:
            buffer.selection_state.enter_shift_mode()
