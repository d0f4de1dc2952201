"""A list to pick from that typing filters, down to nothing when nothing matches."""

from typing import Any

import questionary
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from questionary.prompts.common import Choice, InquirerControl


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
