"""Checks that JSON values have the expected shape; errors name the place that has not."""

import binascii
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from jsctl.base.json_text import TooDeep, check_depth
from jsctl.base.units import parse_time_ns

_LARGEST = 1 << 64
_SMALLEST = -_LARGEST
_MIN_COLUMN_CHECK = 8  #: length of a list above which checking it by columns is faster

Fields = dict[str, Any]
"""Shapes of fields by name: a type, `TIME`, `BASE64` or `NUMBER`, a Shape, a list with the shape of all
items, or a dict of `*` to the shape of all values of an object. A field that is not required may be null,
unless its shape is a type."""

TIME, BASE64, NUMBER = object(), object(), object()
"""NUMBER: with or without a fraction."""


class Shape:
    """An object. required: fields that every server sends."""

    __slots__ = ("fields", "required")

    def __init__(self, fields: Fields, required: Iterable[str] = ()) -> None:
        self.fields = fields
        self.required = frozenset(required)


class Malformed(ValueError):
    """An answer with an unexpected shape. place: of the value, outermost name first; empty for the whole
    answer."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.place = ""

    def __str__(self) -> str:
        return f"{self.place or 'it'} {super().__str__()}"

    def within(self, name: str) -> "Malformed":
        """Prepend the name or index of the containing value to the place; return self."""
        dot = "" if self.place[:1] in ("", "[") else "."
        self.place = name[:40] + dot + self.place
        return self


def check(value: Any, shape: Any) -> None:
    """Raise Malformed with the place unless a value has a shape (see `Fields`)."""
    if isinstance(shape, Shape):
        _check_object(value, shape)
    elif isinstance(shape, list):
        if type(value) is not list:
            raise Malformed("is not a list")
        if len(value) < _MIN_COLUMN_CHECK or not _is_right(value, shape[0]):
            _check_items(enumerate(value), shape[0], "[{}]")
    elif isinstance(shape, dict):
        if type(value) is not dict:
            raise Malformed("is not an object")
        _check_items(value.items(), shape["*"], "{}")
    else:
        _check_scalar(value, shape)


def _check_object(value: Any, shape: Shape) -> None:
    if type(value) is not dict:
        raise Malformed("is not an object")
    required, expected_of = shape.required, shape.fields.get
    if not required <= value.keys():
        raise Malformed("is missing").within(min(required - value.keys()))
    lowest, highest = _SMALLEST, _LARGEST
    for name, item in value.items():
        expected = expected_of(name)
        # Lists hold thousands of objects, and most of their fields are numbers, texts and switches.
        if type(item) is expected:
            if expected is not int or lowest < item < highest:
                continue
        elif expected is None:
            if isinstance(item, (dict, list)):
                _check_unknown(name, item)
            continue
        elif expected is TIME and _is_servers_time(item):
            continue
        elif item is None:
            if name in required:
                raise Malformed("is missing").within(name)
            if not isinstance(expected, type):
                continue
        try:
            if type(expected) is Shape:
                _check_object(item, expected)
            else:
                check(item, expected)
        except Malformed as fault:
            raise fault.within(name) from None


def _is_right(values: Sequence[Any], shape: Any) -> bool:
    """Return whether all values certainly have a shape; False may also mean that their keys differ.

    Objects are checked by columns, which is three times as fast as one by one.
    """
    kinds = set(map(type, values))
    if shape is TIME:
        return kinds == {str} and all(map(_is_servers_time, set(values)))
    if shape is None:
        return kinds.isdisjoint((dict, list))
    if isinstance(shape, type):
        return kinds == {shape} and (shape is not int or (min(values) > _SMALLEST and max(values) < _LARGEST))
    if isinstance(shape, list):
        return kinds == {list} and _are_items_right(chain.from_iterable(values), shape[0])
    if isinstance(shape, dict):
        return kinds == {dict} and _are_items_right(chain.from_iterable(map(dict.values, values)), shape["*"])
    if not isinstance(shape, Shape) or kinds != {dict}:
        return False
    alike: dict[tuple[str, ...], list[Any]] = {}
    for value in values:
        alike.setdefault(tuple(value), []).append(value)
    return len(alike) * _MIN_COLUMN_CHECK <= len(values) and all(
        shape.required.issubset(names)
        and all(map(_is_right, zip(*map(dict.values, objects), strict=True), map(shape.fields.get, names)))
        for names, objects in alike.items()
    )


def _are_items_right(items: Iterable[Any], shape: Any) -> bool:
    values = list(items)
    return not values or _is_right(values, shape)


def _check_unknown(name: str, value: Any) -> None:
    """Raise Malformed for an unknown value that is nested too deeply to be processed."""
    try:
        check_depth(value)
    except TooDeep:
        raise Malformed("is nested too deeply").within(name) from None


def _check_items(items: Iterable[tuple[Any, Any]], shape: Any, place: str) -> None:
    check_item = _check_object if isinstance(shape, Shape) else check
    for name, item in items:
        if type(item) is shape and shape is not int:
            continue
        try:
            check_item(item, shape)
        except Malformed as fault:
            raise fault.within(place.format(name)) from None


def _check_scalar(value: Any, kind: Any) -> None:
    if kind is TIME:
        try:
            parse_time_ns(value)
        except (ValueError, TypeError, AttributeError, OverflowError):
            raise Malformed("is not a time") from None
    elif kind is BASE64:
        try:
            binascii.a2b_base64(value, strict_mode=True) if value else b""
        except (ValueError, TypeError):
            raise Malformed("is not base64") from None
    elif kind is NUMBER:
        if type(value) not in (int, float) or not _SMALLEST < value < _LARGEST:
            raise Malformed("is not a number")
    elif type(value) is not kind or (kind is int and not _SMALLEST < value < _LARGEST):
        expected = {int: "a number", str: "a text", bool: "true or false"}[kind]
        raise Malformed(f"is not {expected}")


def _is_servers_time(text: Any) -> bool:
    """Return whether a text is a time as servers write it, `2026-11-21T06:57:05.123456789Z`.

    Accepts what `parse_time_ns` takes of this form, in a tenth of its time.
    """
    try:
        if len(text) > 30 or text[19] not in ".Z" or text[-1] != "Z":
            return False
        datetime.fromisoformat(text)
    except (ValueError, TypeError, LookupError):
        return False
    return True
