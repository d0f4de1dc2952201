"""The operations of an expression, as functions of the values of some names."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from jsctl.base.patterns import compile_pattern
from jsctl.errors import BadInput

Names = Mapping[str, Any]
Node = Callable[[Names], Any]


def build_name(name: str) -> Node:
    def value(names: Names) -> Any:
        try:
            return names[name]
        except KeyError:
            raise ValueError(f"unknown name {name!r}; the names are {', '.join(names)}") from None

    return value


def build_step(node: Node, key: Node) -> Node:
    def value(names: Names) -> Any:
        container, index = node(names), key(names)
        if isinstance(container, dict | Mapping) and isinstance(index, Hashable):
            return container.get(index)
        if isinstance(container, list) and isinstance(index, int):
            return container[index] if -len(container) <= index < len(container) else None
        if container is None:
            return None
        raise ValueError(f"{container!r} has no {index!r}")

    return value


FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "len": lambda value: len(value) if isinstance(value, (str, list, Mapping)) else 0,
}
"""Functions of one value, by name."""


def build_and(parts: Sequence[Node]) -> Node:
    return lambda names: all(_to_truth(part(names)) for part in parts)


def build_or(parts: Sequence[Node]) -> Node:
    return lambda names: any(_to_truth(part(names)) for part in parts)


def build_negation(node: Node) -> Node:
    return lambda names: not _to_truth(node(names))


def _to_truth(value: Any) -> bool:
    """Return a value as a boolean; a missing switch is off. Raises ValueError."""
    if value is None or isinstance(value, bool):
        return bool(value)
    raise ValueError(f"{value!r} is neither true nor false")


def build_comparison(operator: str, left: Node, right: Node, is_false_if_missing: bool) -> Node:
    compare = COMPARISONS[operator]

    def value(names: Names) -> bool:
        one, other = left(names), right(names)
        if one is None or other is None:
            if is_false_if_missing:
                return False
            one, other = _zero_if_missing(one, other), _zero_if_missing(other, one)
        try:
            return bool(compare(one, other))
        except (TypeError, AttributeError):
            raise ValueError(f"cannot compare {one!r} {operator} {other!r}") from None
        except BadInput as error:
            raise ValueError(str(error)) from None

    return value


def _zero_if_missing(value: Any, other: Any) -> Any:
    """Return a value; if it is missing, the zero of the type that it is compared with."""
    return type(other)() if value is None and isinstance(other, (bool, int, float, str, list)) else value


def _is_equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": _is_equal,
    "!=": lambda one, other: not _is_equal(one, other),
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "in": lambda one, other: one in (other or []),
    "contains": lambda one, other: other in (one or []),
    "startsWith": lambda one, other: one.startswith(other),
    "endsWith": lambda one, other: one.endswith(other),
    "matches": lambda one, other: compile_pattern(other).search(one) is not None,
}
ORDERS = frozenset({"<", "<=", ">", ">="})
WORDS = frozenset({"or", "and", "not", *COMPARISONS})


def build_arithmetic(first: Node, more: Sequence[tuple[str, Node]]) -> Node:
    """Return a calculation from left to right. more: operators, each with what follows it."""

    def value(names: Names) -> Any:
        one = first(names)
        for operator, node in more:
            other = node(names)
            try:
                one = _ARITHMETIC[operator](one or 0, other or 0)
            except (TypeError, ZeroDivisionError):
                raise ValueError(f"cannot calculate {one!r} {operator} {other!r}") from None
        return one

    return value


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "%": lambda one, other: one % other,
}
