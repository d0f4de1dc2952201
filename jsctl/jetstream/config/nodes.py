"""Values of a configuration file with their position, so that each error names file and line."""

from collections.abc import Collection
from typing import Any, NamedTuple

from jsctl.base.similar_names import find_nearest
from jsctl.errors import BadInput

QUOTES_HINT = "put text with {{...}} into quotes"


class Node(NamedTuple):
    """A value of a file.

    value: a scalar, a list of Nodes, or a dict of Nodes by key. line: 1 or more; 0 if unknown. text: a scalar
    as it was written, so that `name: NO` or `version: 1.10` can be read as text.
    """

    value: Any
    file: str
    line: int
    text: str = ""

    @property
    def position(self) -> str:
        """Where it stands: file:line."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def error(self, message: str, hint: str = "") -> BadInput:
        """Return the error for this node, with file and line."""
        return BadInput(f"{self.position}: {message}", hint)

    def as_object(self, name: str) -> "dict[str, Node]":
        """Return the value as an object. name: its name in errors. Raises BadInput."""
        if not isinstance(self.value, dict):
            raise self.error(f"{name} must be an object with keys", self._find_hint())
        return self.value

    def read_keys(self, name: str, known: Collection[str]) -> "dict[str, Node]":
        """Return the value as an object that has known keys only. name: its name in errors. Raises
        BadInput."""
        keys = self.as_object(name)
        for key, value in keys.items():
            if key not in known:
                nearest = find_nearest(key, sorted(known))
                hint = f"did you mean {nearest}?" if nearest else f"use {', '.join(sorted(known))}"
                raise value.error(f"{name} has no key {key!r}", hint)
        return keys

    def as_list(self, name: str) -> "list[Node]":
        """Return the value as a list. name: its name in errors. Raises BadInput."""
        if not isinstance(self.value, list):
            raise self.error(f"{name} must be a list", self._find_hint())
        return self.value

    def list_below(self, key: str) -> "list[Node]":
        """Return the list below a key of an object; empty when it is missing or null. Raises BadInput."""
        below = self.as_object("this").get(key)
        return below.as_list(key) if below and below.value is not None else []

    def as_text(self, name: str) -> str:
        """Return the value as text, as it was written. name: its name in errors. Raises BadInput."""
        if isinstance(self.value, (dict, list)) or self.value is None:
            raise self.error(f"{name} must be text", self._find_hint())
        return self.text

    def to_json(self) -> Any:
        """Return the value as JSON, without positions."""
        if isinstance(self.value, dict):
            return {key: node.to_json() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.to_json() for node in self.value]
        return self.value

    def _find_hint(self) -> str:
        # `max_age: {{age}}` is an object to YAML.
        return QUOTES_HINT if isinstance(self.value, dict) else ""
