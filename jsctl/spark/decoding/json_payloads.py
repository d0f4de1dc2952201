"""JSON objects as columns of a schema, without a JVM.

| type                        | takes                                                          |
|-----------------------------|----------------------------------------------------------------|
| integers                    | numbers without a fraction, in range                           |
| float, double               | numbers; "NaN", "Infinity", "-Infinity"                        |
| decimal                     | numbers, also in quotation marks; rounded half up to its scale |
| string                      | texts; anything else as its JSON                               |
| binary                      | base64                                                         |
| date, timestamp             | ISO 8601 (without a zone: UTC); seconds since 1970             |
| array, map, struct, variant | arrays, objects, objects, anything                             |

A payload with a value of another type is bad as a whole. Keys that differ in case are different; the last of
repeated keys counts; keys without a field are left out. No field can have an empty name: an object with an
empty key is bad, unless it becomes a map, text or a variant.
"""

import base64
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from jsctl.base.json_text import MAX_DEPTH, encode_json
from jsctl.spark.decoding.model import KindDecoder
from jsctl.spark.decoding.variants import encode_variant, parse_exact

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ].*)?")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ](?:[01][0-9]|2[0-3])(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?"
    r" ?(?:Z|[+-](?:0[0-9]|1[0-8])(?::?[0-9]{2})?)?)?"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
"""A number in quotation marks. Python also accepts underscores, blanks and the digits of other scripts."""
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_EMPTY_KEY = re.compile(rb'""\s*:')
"""What an object with an empty key contains; also what some texts do."""
_FAST = (pa.types.is_int64, pa.types.is_int32, pa.types.is_float64, pa.types.is_boolean, pa.types.is_string)
"""Types that Arrow's reader of JSON treats as this module does."""


class JsonDecoder(KindDecoder):
    """A decoder of JSON objects. type: a struct, with Arrow's types for those of Spark."""

    def __init__(self, type: pa.DataType) -> None:
        self.type = type
        self._convert = _build_converter(type)
        self._is_fast = _is_fast(type)

    def decode(self, data: bytes) -> Any:
        """Return an object as a dict. Raises ValueError for anything else."""
        value = parse_exact(data.decode())
        if not isinstance(value, dict):
            raise ValueError("it is not an object")
        if _EMPTY_KEY.search(data) and _loses_empty_key(value, self.type):
            raise ValueError("it has a field without a name")
        return self._convert(value)

    def decode_all(self, payloads: pa.Array) -> pa.Array | None:
        """Decode all payloads at once, ten times as fast; None when some cannot be read in this way."""
        try:
            if not self._is_fast or not len(payloads) or not _is_all_objects(payloads):
                return None
            text = b"\n".join(payloads.to_pylist())
            if b"NaN" in text or b"Inf" in text:
                return None  # Arrow reads them as numbers
            if _EMPTY_KEY.search(text):
                return None  # Arrow would leave it out
            table = pyarrow.json.read_json(
                pa.BufferReader(text),
                pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
                pyarrow.json.ParseOptions(
                    pa.schema(list(self.type)),
                    newlines_in_values=True,
                    unexpected_field_behavior="ignore",
                ),
            ).combine_chunks()
        except pa.ArrowException:
            return None
        if len(table) != len(payloads) or table.schema.names != [field.name for field in self.type]:
            return None
        (batch,) = table.to_batches()
        return pa.StructArray.from_arrays(batch.columns, fields=list(self.type))


def _loses_empty_key(value: Any, type: pa.DataType | None) -> bool:
    """Return whether an object in `value` has an empty key that a column of this type does not keep. type:
    None for a value that no column has."""
    if isinstance(value, list):
        item_type = type.value_type if type is not None and pa.types.is_list(type) else None
        is_kept = type is not None and not pa.types.is_list(type)
        return not is_kept and any(_loses_empty_key(item, item_type) for item in value)
    if not isinstance(value, dict):
        return False
    if type is not None and pa.types.is_map(type):
        return any(_loses_empty_key(item, type.item_type) for item in value.values())
    if type is not None and (not pa.types.is_struct(type) or _is_variant(type)):
        return False
    types = {field.name: field.type for field in type} if type is not None else {}
    return ("" in value and "" not in types) or any(
        _loses_empty_key(item, types.get(key)) for key, item in value.items()
    )


def _is_all_objects(payloads: pa.Array) -> bool:
    """Return whether each payload is one object, provided that Arrow's reader finds as many objects as
    payloads."""
    texts = pc.utf8_trim(payloads.cast(pa.string()), " \t\r\n")  # raises for bytes that are not UTF-8
    opened = pc.add(pc.count_substring(texts, "{"), pc.count_substring(texts, "["))
    checks = (pc.starts_with(texts, "{"), pc.ends_with(texts, "}"), pc.less(opened, MAX_DEPTH))
    return all(pc.all(check).as_py() for check in checks)


def _is_fast(type: pa.DataType) -> bool:
    if pa.types.is_struct(type):
        return len({field.name for field in type}) == type.num_fields and all(_is_fast(f.type) for f in type)
    return _is_fast(type.value_type) if pa.types.is_list(type) else any(is_type(type) for is_type in _FAST)


def _build_converter(type: pa.DataType) -> Callable[[Any], Any]:
    """Return a function that converts a JSON value to a value for Arrow. It raises ValueError."""
    convert = _build_value_converter(type)
    if pa.types.is_struct(type) and _is_variant(type):
        return convert  # null is a value, too
    return lambda value: None if value is None else convert(value)


def _build_value_converter(type: pa.DataType) -> Callable[[Any], Any]:
    if pa.types.is_struct(type):
        if _is_variant(type):
            return encode_variant
        fields = [(field.name, _build_converter(field.type)) for field in type]
        return lambda value: {name: convert(_check_type(dict, value).get(name)) for name, convert in fields}
    if pa.types.is_list(type):
        element = _build_converter(type.value_type)
        return lambda value: [element(item) for item in _check_type(list, value)]
    if pa.types.is_map(type):
        item = _build_converter(type.item_type)
        return lambda value: [(key, item(entry)) for key, entry in _check_type(dict, value).items()]
    if pa.types.is_integer(type):
        bound = 1 << (type.bit_width - 1)
        return lambda value: _convert_integer(value, bound)
    if pa.types.is_decimal(type):
        return lambda value: _convert_decimal(value, type.precision, type.scale)
    if pa.types.is_timestamp(type):
        return _convert_timestamp if type.tz else _convert_local_timestamp
    by_type: list[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]]] = [
        (pa.types.is_boolean, lambda value: _check_type(bool, value)),
        (pa.types.is_floating, _convert_float),
        (pa.types.is_string, _convert_text),
        (pa.types.is_binary, lambda value: base64.b64decode(_check_type(str, value), validate=True)),
        (pa.types.is_date, _convert_date),
    ]
    return next(convert for is_type, convert in by_type if is_type(type))


def _is_variant(type: pa.DataType) -> bool:
    return any((field.metadata or {}).get(b"variant") for field in type)


def _check_type(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is of another type")
    return value


def _convert_integer(value: Any, bound: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -bound <= value < bound:
        raise ValueError(f"{value!r} is not an integer in range")
    return value


def _convert_float(value: Any) -> float:
    if isinstance(value, str):
        if value not in _NOT_FINITE:
            raise ValueError(f"{value!r} is not a number")
        return _NOT_FINITE[value]
    return float(_check_number(value))


def _check_number(value: Any) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError(f"{value!r} is not a number")
    return value


def _convert_decimal(value: Any, precision: int, scale: int) -> Decimal:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError(f"{value!r} is not a number")
    try:
        number = Decimal(value if isinstance(value, str) else _check_number(value))
        # quantize raises an error for more digits than the type has.
        return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(precision))
    except ArithmeticError:
        raise ValueError(f"{value!r} is not a decimal of {precision} digits") from None


def _convert_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return str(value)
    return encode_json(value, compact=True)


def _convert_date(value: Any) -> date:
    match = _DATE.fullmatch(_check_type(str, value).strip())
    if not match:
        raise ValueError(f"{value!r} is not a date")
    return date(*(int(part) for part in match.groups()))


def _convert_timestamp(value: Any) -> datetime:
    if isinstance(value, str):
        moment = _parse_time(value.strip())
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return _EPOCH + timedelta(seconds=_convert_integer(value, 1 << 63))
    except OverflowError:
        raise ValueError(f"{value} is out of range") from None


def _convert_local_timestamp(value: Any) -> datetime:
    moment = _parse_time(_check_type(str, value).strip())
    if moment.tzinfo:
        raise ValueError(f"{value!r} has a zone")
    return moment


def _parse_time(text: str) -> datetime:
    """Parse a time; Python also accepts any letter between date and time, weeks, and dates without hyphens.
    Raises ValueError."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text!r} is not a time")
    return datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", ""))
