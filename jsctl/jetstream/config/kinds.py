"""Kinds of configuration values other than numbers: how each is parsed, read, validated and formatted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsctl.base.units import format_rfc3339
from jsctl.jetstream.config.kind import KeepKey, Kind, is_server_metadata, merge, refuse_unknown, shorten
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.numbers import Duration
from jsctl.jetstream.shape_check import TIME
from jsctl.nats.subjects import is_subject, split_subjects

_LIST_OF_TEXTS = [str]
_TEXT_VALUES = {"*": str}


class Subject(Kind):
    """A subject; one to publish to (`publish`) has no wildcards."""

    takes = "a subject"

    def __init__(self, *, publish: bool = False) -> None:
        self._publish = publish

    def parse(self, text: str) -> str:
        if text and not self._is_valid(text):
            raise ValueError(self._describe(text))
        return text

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> str:
        text = node.as_text(key)
        if text and not self._is_valid(text):
            raise node.error(f"{key}: {self._describe(text)}")
        return text

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield from super().check_value(value, key)
        elif value and not self._is_valid(value):
            yield f"{key}: {self._describe(value)}"

    def _is_valid(self, text: str) -> bool:
        wildcard = self._publish and any(token in ("*", ">") for token in text.split("."))
        return is_subject(text) and not wildcard

    def _describe(self, text: str) -> str:
        return f"{text!r} is not a valid subject{' to publish to' if self._publish else ''}"


class Texts(Kind):
    """A list of strings."""

    takes = "a list of strings"
    repeatable = True
    shape = _LIST_OF_TEXTS
    schema = "[text]?"

    def parse(self, text: str) -> list[str]:
        return split_subjects([text])

    def collect(self, values: Sequence[Any], present: Any) -> list[str]:
        return [item for value in values for item in (self.parse(value) if isinstance(value, str) else value)]

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> list[str]:
        """Read a list, whose items are never split; a file may write a single one without the list."""
        if isinstance(node.value, list):
            return [self._check_item(item, item.as_text(f"each of {key}"), key) for item in node.value]
        return [self._check_item(node, text, key) for text in self._split(node.as_text(key))]

    def to_flag_texts(self, value: Any) -> list[str]:
        return [",".join(value)]

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)

    def _split(self, text: str) -> list[str]:
        """Return the items of a text in place of a list."""
        return [text]

    def _check_item(self, node: Node, text: str, key: str) -> str:
        """Return the text if it is valid. Raises BadInput."""
        return text


class Subjects(Texts):
    """A list of subjects; one text in its place may hold several, separated by commas or spaces."""

    takes = "a list of subjects"

    def parse(self, text: str) -> list[str]:
        subjects = split_subjects([text])
        for subject in subjects:
            if not is_subject(subject):
                raise ValueError(f"{subject!r} is not a valid subject")
        return subjects

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        if not self.accepts(value):
            yield from super().check_value(value, key)
            return
        for subject in value:
            if not is_subject(subject):
                yield f"{key}: {subject!r} is not a valid subject"

    def _split(self, text: str) -> list[str]:
        return split_subjects([text])

    def _check_item(self, node: Node, text: str, key: str) -> str:
        if not is_subject(text):
            raise node.error(f"{key}: {text!r} is not a valid subject")
        return text


class Switch(Kind):
    """A boolean.

    negatable: whether there is also a flag --no-<flag>. inverse_flag, inverse_label: whether the flag, or the
    label in info pages, means the opposite of the key.
    """

    takes = "true or false"
    shown_as = "bool"
    shape = bool
    schema = "bool"

    def __init__(
        self, *, negatable: bool = True, inverse_flag: bool = False, inverse_label: bool = False
    ) -> None:
        self.negatable = negatable
        self._inverse_flag = inverse_flag
        self._inverse_label = inverse_label

    def parse(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise ValueError(f"{text!r} must be true or false")
        return text == "true"

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> bool:
        if not isinstance(node.value, bool):
            raise node.error(f"{key} must be {self.takes}, not {shorten(node.to_json())}")
        return node.value

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)

    def from_flag(self, value: bool) -> bool:
        """Return the stored value for a value of the flag, or the other way round."""
        return bool(value) != self._inverse_flag

    def to_shown(self, value: bool) -> bool:
        """Return what an info page shows beside the label."""
        return bool(value) != self._inverse_label


class Choice(Kind):
    """One of several words.

    choices: words that may be written, each with the value that is stored. words: the text of an information
    info page by stored value, empty to show nothing; a value without one is shown as it is.
    """

    def __init__(self, choices: Mapping[str, str], words: Mapping[str, str] | None = None) -> None:
        self.choices = choices
        self._words = words or {}
        stored = list(dict.fromkeys(choices.values()))
        self._accepted = {**choices, **{value: value for value in stored}}
        self._stored = frozenset(stored)
        self.takes = f"one of {', '.join(stored)}"
        self.schema = "|".join(stored)

    def parse(self, text: str) -> str:
        if text.lower() not in self._accepted:
            raise ValueError(f"{text!r} is not {self.takes}")
        return self._accepted[text.lower()]

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> str:
        try:
            return self.parse(node.as_text(key))
        except ValueError:
            raise node.error(f"{key} must be {self.takes}, not {node.text!r}") from None

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self._stored

    def to_flag_texts(self, value: Any) -> list[str]:
        return [next((text for text, stored in self.choices.items() if stored == value), str(value))]

    def describe(self, stored: str) -> str:
        """Return what an info page shows for a stored value."""
        return self._words.get(stored, stored)


class Map(Kind):
    """An object whose values are text."""

    metavar = "KEY=VALUE"
    takes = "an object with text values"
    repeatable = True
    shape = _TEXT_VALUES
    schema = "{text}?"

    def parse(self, text: str) -> dict[str, str]:
        key, *value = re.split("[=:]", text, maxsplit=1)  # as `nats`, also K:V
        if not value or not key:
            raise ValueError(f"{text!r} is not KEY=VALUE")
        if is_server_metadata(key):
            raise ValueError(f"{key!r} is a key of the server")
        return {key: value[0]}

    def collect(self, values: Sequence[Any], present: Any) -> dict[str, str]:
        pairs = dict(present or {})
        for value in values:
            pairs.update(self.parse(value) if isinstance(value, str) else value)
        return pairs

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> dict[str, str | None]:
        """Read an object with text values, without the keys that the server writes."""
        return {
            name: None if item.value is None else item.as_text(f"{key}.{name}")
            for name, item in node.as_object(key).items()
            if not is_server_metadata(name)
        }

    def to_flag_texts(self, value: Any) -> list[str]:
        return [f"{key}={text}" for key, text in value.items()]

    def accepts(self, value: Any) -> bool:
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


class Time(Kind):
    """A time, RFC 3339."""

    metavar = "TIME"
    takes = "a time such as 2026-11-21T06:57:05Z"
    shape = TIME
    schema = "time"

    def parse(self, text: str) -> str:
        """Return the time as servers write it: in UTC, without zeros at the end of the fraction. Raises
        ValueError."""
        try:
            return format_rfc3339(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {self.takes}") from None

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> str:
        try:
            return self.parse(node.as_text(key))
        except ValueError as error:
            raise node.error(f"{key}: {error}") from None


class ListOf(Kind):
    """A list of values of one kind; a file may write a single one without the list."""

    repeatable = True

    def __init__(self, item: Kind) -> None:
        self.item = item
        self.metavar = item.metavar
        self.takes = "a list"
        self.shape = [item.shape]
        self.schema = f"[{item.schema}]?"

    def parse(self, text: str) -> list[Any]:
        return [self.item.parse(text)]

    def collect(self, values: Sequence[Any], present: Any) -> list[Any]:
        return [self.item.parse(value) if isinstance(value, str) else value for value in values]

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> list[Any]:
        nodes = node.value if isinstance(node.value, list) else [node]
        items = [self.item.read(member, key, keep=keep) for member in nodes]
        return [merge({}, item) if isinstance(item, dict) else item for item in items]

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list)

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        yield from super().check_value(value, key)
        for item in value if isinstance(value, list) else ():
            yield from self.item.check_value(item, f"each of {key}")

    def to_flag_texts(self, value: Any) -> list[str]:
        return [text for item in value for text in self.item.to_flag_texts(item)]

    def format(self, value: Any) -> str:
        if isinstance(value, list) and isinstance(self.item, Duration):
            return ", ".join(map(self.item.format, value))
        return super().format(value)

    def write(self, value: Any) -> Any:
        return [self.item.write(item) for item in value] if isinstance(value, list) else value
