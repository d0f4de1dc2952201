"""Whether the values that an expression compares are of one type, found before there are any."""

from collections.abc import Callable, Mapping
from typing import Any

from jsctl.jetstream.find.expression import Condition
from jsctl.jetstream.find.expression_nodes import Names


def check_types(condition: Condition, sample: Names) -> None:
    """Raise ValueError for a comparison of values of different types, and for an operand of `and`, `or` and
    `not` that is no condition.

    sample: a value of the right type for each name; lists have one item, and None fits all.
    """
    for comparison in condition.comparisons:
        left, right = comparison.sides
        one, other = left.node(sample), right.node(sample)
        if one is None or other is None or _FITS.get(comparison.operator, _is_same)(one, other):
            comparison.node(sample)
            continue
        text = f"{left.text} {comparison.operator} {right.text}"
        raise ValueError(f"{text!r} compares {_describe(one)} with {_describe(other)}")
    for operand in condition.operands:
        value = operand.node(sample)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{operand.text!r} is {_describe(value)}, not a condition")


def _describe(value: Any) -> str:
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_describe(each).replace("a number", "numbers") for each in value))
        return f"a list of {' and '.join(kinds)}" if kinds else "an empty list"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "an object"


def _is_same(one: Any, other: Any) -> bool:
    return isinstance(one, list) == isinstance(other, list) and (
        isinstance(one, list) or _describe(one) == _describe(other)
    )


def _is_item(item: Any, holder: Any) -> bool:
    """Return whether a value may be in a list, or in a text."""
    if isinstance(holder, list):
        return not holder or any(each is None or _is_same(item, each) for each in holder)
    return isinstance(holder, str) and isinstance(item, str)


def _are_texts(one: Any, other: Any) -> bool:
    return isinstance(one, str) and isinstance(other, str)


_FITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "in": _is_item,
    "contains": lambda one, other: _is_item(other, one),
    "startsWith": _are_texts,
    "endsWith": _are_texts,
    "matches": _are_texts,
}
"""By operator; others compare values of one type."""
