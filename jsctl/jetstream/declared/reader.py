"""The skeleton of what reads declared files: `load` reads the streams in them, `auth.declared.load` the
operators."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from jsctl.errors import BadInput
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.declared.variables import Budget, Variables, resolve_variables

K = TypeVar("K")


class DocumentReader:
    """A reader of documents, which collects what they declare. errors: all that is wrong with them, which
    readers of the same documents share."""

    def __init__(self, variables: Variables) -> None:
        self.errors: list[BadInput] = []
        self._variables = variables
        self._used: set[str] = set()  #: names of variables
        self._budget = Budget()
        self._warnings: list[str] = []

    def read_document(self, document: Node) -> None:
        """Add what a document declares. Raises BadInput."""
        raise NotImplementedError

    def _resolve_variables(self, keys: Mapping[str, Node]) -> Mapping[str, Node]:
        """Return the variables of a document with these keys."""
        if "vars" not in keys or keys["vars"].value is None:
            return {}
        self._used.update(keys["vars"].as_object("vars"))
        return resolve_variables(keys["vars"], self._variables)

    def _read_keys(self, schema: Schema, node: Node, what: str, ignored: frozenset[str]) -> dict[str, Any]:
        """Return the keys of an object that a schema has. ignored: others that it may have."""
        declared = schema.read(node, what, ignored=ignored)
        self._warnings += schema.find_number_warnings(node)
        return declared

    def _take_warnings(self) -> tuple[str, ...]:
        warnings, self._warnings = tuple(dict.fromkeys(self._warnings)), []
        return warnings


def refuse_twice(by_key: dict[K, Any], key: K, item: Any, name: str) -> None:
    """Note what is declared, by a key. Raises BadInput if something else with its key is noted already. name:
    in words."""
    if (first := by_key.setdefault(key, item)) is not item:
        raise BadInput(f"{item.position}: {name} is declared twice", f"first in {first.position}")


def read_name(node: Node, noun: str, check: Callable[[str, str], object]) -> str:
    """Return the name of an object, which `check` is called with, and then the noun. Raises BadInput."""
    name = node.as_object(f"this {noun}").get("name")
    if name is None:
        raise node.error(f"this {noun} has no name")
    text = name.as_text("name")
    try:
        check(text, noun)
    except BadInput as error:
        raise name.error(error.message, error.hint) from None
    except ValueError as error:
        raise name.error(str(error)) from None
    return text
