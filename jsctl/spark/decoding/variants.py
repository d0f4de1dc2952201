"""Variants: any JSON as Spark stores it, and back, with the digits that it has.

A variant holds numbers of up to 38 digits as they are, and others as doubles. A number that neither holds
makes a payload bad: its digits would be others. The last of repeated keys counts, as in the fields of JSON.
"""

import functools
import re
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from jsctl.base.json_text import encode_json, parse_json
from jsctl.spark.decoding.model import KindDecoder

_MAX_DIGITS = 38

LONG_NUMBER = r"(?:^|[\[:,])\s*-?(?:[0-9.]{39}|[0-9.]+[eE])"
"""A regular expression of Python and of Java: what JSON contains in which Spark's parser may round a
number."""
_LONG_NUMBER = re.compile(LONG_NUMBER)


class VariantDecoder(KindDecoder):
    """A decoder of any JSON as Spark's variants. type: a variant, with Arrow's types for those of Spark."""

    def __init__(self, type: pa.DataType) -> None:
        self.type = type

    def decode(self, data: bytes) -> Any:
        """Return a variant's parts. Raises ValueError for what is not JSON."""
        text = data.decode()
        value = parse_exact(text)  # refuses invalid JSON that Spark accepts
        return encode_variant(value) if _LONG_NUMBER.search(text) else _build(text)


def parse_exact(text: str) -> Any:
    """Parse JSON with its numbers as int and Decimal. Raises ValueError."""
    return parse_json(text, parse_float=_parse_decimal)


def _parse_decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError(f"{text} has an exponent that is too large") from None


def encode_variant(value: Any) -> dict[str, bytes]:
    """Return the parts of a variant. value: of `parse_exact`. Raises ValueError for a number that a variant
    cannot hold."""
    _check_integers(value)
    return _build(encode_json(value, compact=True, number=_format_number))


def is_double(number: int | Decimal) -> bool:
    """Return whether a double shows all digits of a number."""
    try:
        double = float(number)
    except OverflowError:
        return False
    return isfinite(double) and Decimal(repr(double)) == number


def count_digits(number: int | Decimal) -> tuple[int, int]:
    """Return how many digits a number has before its point, none if that is a zero, and after it, without
    zeros at the end."""
    _, digits, exponent = Decimal(number).as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{number} is not a finite number")
    end = len(digits)
    while end > 1 and exponent < 0 and not digits[end - 1]:
        end, exponent = end - 1, exponent + 1
    return max(end + exponent, 0) if number else 0, max(-exponent, 0)


def _check_integers(value: Any) -> None:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_integers(item)
    elif isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS and not is_double(value):
        raise ValueError(f"{value} has more than {_MAX_DIGITS} digits")


def _format_number(number: Decimal) -> str:
    """Return the text of a number that Spark's parser reads without rounding it. Raises ValueError."""
    before, after = count_digits(number)
    if after <= _MAX_DIGITS and before + after <= _MAX_DIGITS:
        return f"{number:.{after}f}"
    if is_double(number):
        return repr(float(number))
    raise ValueError(f"{number} has more digits than a variant holds")


def _build(text: str) -> dict[str, bytes]:
    from pyspark.errors import PySparkException

    try:
        value, metadata = _find_builder()().build(text)
    except (PySparkException, OverflowError) as error:
        raise ValueError(f"it cannot be a variant: {error}") from None
    return {"value": value, "metadata": metadata}


@functools.cache
def _find_builder() -> Any:
    """Return PySpark's builder, with fields in the order of Java, in which Spark looks for them: that of
    UTF-16. Python's own differs where names have emoji and the like."""
    from pyspark.sql.variant_utils import FieldEntry, VariantBuilder

    class Builder(VariantBuilder):
        def _finish_writing_object(self, start: int, fields: list[FieldEntry]) -> None:
            ordered: Any = [field._replace(key=field.key.encode("utf-16-be")) for field in fields]  # type: ignore[arg-type]
            super()._finish_writing_object(start, ordered)

    return Builder
