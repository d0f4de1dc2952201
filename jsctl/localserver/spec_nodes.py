"""Readers of the values in a network's description. Their errors name file and line.

noun: what an error message calls the value.
"""

from collections.abc import Collection
from typing import Any

from jsctl.base.similar_names import find_nearest
from jsctl.contexts.store import is_name
from jsctl.jetstream.config.nodes import Node

Json = dict[str, Any]


def read_keys(node: Node, noun: str, known_keys: Collection[str]) -> dict[str, Node]:
    """Return the members of an object that are not null. Raises BadInput for an unknown key."""
    keys = node.as_object(noun)
    for key, value in keys.items():
        if key not in known_keys:
            raise value.error(f"{noun} has no key {key!r}", find_hint(key, known_keys))
    return {key: value for key, value in keys.items() if value.value is not None}


def read_items(node: Node | None, noun: str) -> list[Node]:
    """Return the items of a list; an empty list without a node. Raises BadInput."""
    return node.as_list(noun) if node is not None else []


def read_object(node: Node, noun: str) -> Json:
    """Return an object as JSON. Raises BadInput."""
    node.as_object(noun)
    value: Json = node.to_json()
    return value


def read_flag(node: Node | None, noun: str) -> bool:
    """Return true or false; false without a node. Raises BadInput."""
    if node is None:
        return False
    if not isinstance(node.value, bool):
        raise node.error(f"{noun} must be true or false")
    return node.value


def read_name(node: Node, noun: str) -> str:
    """Return a name. Raises BadInput for an invalid one."""
    return check_name(node, node.as_text(noun), noun)


def check_name(node: Node, name: str, noun: str) -> str:
    """Return `name`. Raises BadInput at the node for an invalid one."""
    if not is_name(name) or not name.isprintable() or any(char in " .*>{}#\"'@$\\" for char in name):
        raise node.error(f"{name!r} is not a valid name of {noun}", "use letters, digits and dashes")
    return name


def read_choice(node: Node, choices: Collection[str], noun: str) -> str:
    """Return one of `choices`. Raises BadInput for another text."""
    name = node.as_text(noun)
    if name not in choices:
        raise node.error(f"there is no {noun} {name!r}", find_hint(name, choices, " or "))
    return name


def find_hint(name: str, names: Collection[str], mark: str = ", ") -> str:
    """Return a hint about a name that is not among `names`. mark: between them."""
    nearest = find_nearest(name, names)
    return f"did you mean {nearest}?" if nearest else f"use {mark.join(names)}"
