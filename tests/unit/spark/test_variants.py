"""Variants in Python: they keep the digits of all numbers, or refuse a payload."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import random_json

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from jsctl.spark.decoding import variants  # noqa: E402
from jsctl.spark.decoding.columns import PayloadColumns  # noqa: E402
from jsctl.spark.decoding.model import Decoding  # noqa: E402
from tests.support.variants import decode_variant  # noqa: E402

OUTSIDE = [Decimal("1" * 39), Decimal("1e400"), Decimal("1e-400"), Decimal("0." + "1" * 39)]
"""Numbers that neither a decimal of 38 digits nor a double holds."""


def decode(*payloads: bytes, kind: str = "variant", schema: str = "") -> list[Any]:
    columns = PayloadColumns(Decoding(kind, schema.encode()), ())
    values, *_, bad = columns.decode_arrays(pa.array(payloads, pa.binary()))
    return [b if b is not None else v for v, b in zip(values.to_pylist(), bad.to_pylist(), strict=True)]


def is_outside(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(is_outside, value.values() if isinstance(value, dict) else value))
    if not isinstance(value, Decimal):
        return False
    return sum(variants.count_digits(value)) > 38 and not variants.is_double(value)


@given(st.integers(0, 2**64))
def test_digits_are_kept_or_the_payload_is_bad(seed: int) -> None:
    text = random_json.document(Random(seed))
    expected = random_json.parse(text)
    (parts,) = decode(text.encode())
    (nested,) = decode(b'{"v":%s}' % text.encode(), kind="json", schema="v VARIANT")
    if is_outside(expected):
        assert (parts, nested) == (text.encode(), b'{"v":%s}' % text.encode())
    else:
        assert random_json.simplify(decode_variant(parts)) == expected
        assert random_json.simplify(decode_variant(nested)) == expected
    (as_text,) = decode(b'{"v":%s}' % text.encode(), kind="json", schema="v STRING")
    if isinstance(expected, dict | list | Decimal):
        assert random_json.parse(as_text) == expected
    else:
        assert as_text == (expected if isinstance(expected, str | None) else text)


@pytest.mark.parametrize("number", OUTSIDE)
def test_numbers_that_no_variant_holds(number: Decimal) -> None:
    payload = f'{{"a": [{number}]}}'.encode()
    assert decode(payload) == [payload]
    assert is_outside(number)


def test_an_exponent_without_bounds_is_a_bad_payload() -> None:
    payload = b'{"v": 1e99999999999999999999}'
    for schema in ("v DOUBLE", "v VARIANT", "v STRING", "v DECIMAL(9,2)"):
        assert decode(payload, kind="json", schema=schema) == [payload]
    assert decode(payload) == [payload]
