"""The interface of kinds of configuration values, and functions that kinds share."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from jsctl.base.similar_names import find_nearest
from jsctl.jetstream.config.nodes import Node

Json = dict[str, Any]
KeepKey = Callable[[str, Collection[str], Collection[str]], bool | None]
"""Whether an object in a file keeps a key that jsctl does not know; None if it is left out.

Called with the key, the known keys of the object, and all keys that it has.
"""

_SERVER_METADATA = frozenset(("_nats.ver", "_nats.level", "_nats.req.level"))
_COPYING = ("_nats.mirror.", "_nats.src.")  #: of consumers that servers make to copy
_SLIP = 0.85
"""Minimum likeness of a key and its misspelling, from 0 to 1; different keys are less alike."""


def refuse_unknown(key: str, known_keys: Collection[str], present_keys: Collection[str]) -> bool:
    """Refuse every unknown key: the rule for files that people write."""
    return False


def leave_out_unknown(key: str, known_keys: Collection[str], present_keys: Collection[str]) -> None:
    """Leave out every unknown key, as nats does."""


def keep_newer(key: str, known_keys: Collection[str], present_keys: Collection[str]) -> bool:
    """Keep an unknown key unless it looks like a known one that is missing: the rule for documents from a
    server, which may be newer than jsctl."""
    nearest = find_nearest(key, known_keys, likeness=_SLIP)
    return not nearest or nearest in present_keys


def is_server_metadata(key: str) -> bool:
    """Return whether servers write this key of the metadata of streams and consumers (ADR-44).

    Others below `_nats.` are of clients, such as `_nats.client.created.library`.
    """
    return key in _SERVER_METADATA or key.startswith(_COPYING)


def is_copying(config: Json) -> bool:
    """Return whether a server made a consumer to copy messages to another stream (2.15: from streams that
    remove what is acknowledged). config: the consumer's."""
    return any(key.startswith(_COPYING) for key in config.get("metadata") or ())


class Kind:
    """Text, and the base of all other kinds.

    metavar: the placeholder for a value in help. takes: a description of valid values, for errors.
    repeatable: whether the flag may be repeated. shown_as: how an info page shows a value, as a kind of
    `views.result`. shape: of a value in a server's answer, as in `shape_check`. schema: the same in the words
    of schema/definitions.yaml.
    """

    metavar = "TEXT"
    takes = "text"
    repeatable = False
    shown_as = "text"
    shape: Any = str
    schema = "text"

    def parse(self, text: str) -> Any:
        """Parse the text of a flag or an answer. Raises ValueError."""
        return text

    def collect(self, values: Sequence[Any], present: Any) -> Any:
        """Return the value of a repeatable flag.

        values: one for each time that the flag appears; texts are parsed. present: the value in the
        configuration so far. Raises ValueError.
        """
        raise NotImplementedError

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> Any:
        """Read the value of a node from a file. key: for errors. keep: which unknown keys objects keep.
        Raises BadInput."""
        return node.as_text(key)

    def accepts(self, value: Any) -> bool:
        """Return whether a value in the server's form is of this kind."""
        return isinstance(value, str)

    def check_value(self, value: Any, key: str) -> Iterator[str]:
        """Yield what is wrong with a value in the server's form, one sentence for each problem."""
        if not self.accepts(value):
            yield f"{key} must be {self.takes}, not {shorten(value)}"

    def normalize(self, value: Any) -> Any:
        """Return a value for comparisons: None if it equals a missing key; lists sorted, as the server keeps
        no order of subjects, tags or sources."""
        if isinstance(value, list):
            return sorted(json.dumps(without_empty(item), sort_keys=True) for item in value) or None
        return value or None

    def format(self, value: Any) -> str:
        """Format a value for people."""
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return ", ".join(value)
        return json.dumps(value, ensure_ascii=False)

    def mask(self, value: Any) -> Any:
        """Return the value for JSON, or what stands for a secret."""
        return value

    def to_flag_texts(self, value: Any) -> list[str]:
        """Return the texts with which the flag gives this value, one for each time that it appears."""
        return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]

    def write(self, value: Any) -> Any:
        """Return the value as people write it into a file; `read` turns it back exactly."""
        return value


class Text(Kind):
    """Any text."""


class Anything(Kind):
    """A key that jsctl does not know."""

    def read(self, node: Node, key: str, *, keep: KeepKey = refuse_unknown) -> Any:
        return node.to_json()

    def accepts(self, value: Any) -> bool:
        return True


def merge(below: Json, above: Mapping[str, Any], *, keep_none: bool = False) -> Json:
    """Return `below` with `above` applied to it, objects key by key. None removes a key; with `keep_none` it
    stays as a value."""
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, dict) and (isinstance(merged.get(key), dict) or not keep_none):
            inner = merge(merged.get(key) or {}, value, keep_none=keep_none)
            merged[key] = inner
            if not inner and value and not keep_none:
                del merged[key]
        elif value is None and not keep_none:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def without_empty(value: Any) -> Any:
    """Remove the empty values of an object: the server adds `deliver: ""` to a source of another domain."""
    if not isinstance(value, dict):
        return value
    members = {key: without_empty(item) for key, item in value.items()}
    return {key: item for key, item in members.items() if item}


def shorten(value: Any) -> str:
    """Format a value for an error in at most 40 characters."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
