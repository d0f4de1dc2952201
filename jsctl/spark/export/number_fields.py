"""Fields of messages whose numbers their types would round.

Spark infers DOUBLE for all numbers with a fraction or an exponent, and for those of more than 38 digits.
Where a double would show other digits, a new field becomes a DECIMAL, if one holds all of its numbers.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from jsctl.base.json_text import parse_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

Path = tuple[str, ...]
"""The names of a field and of those that it is in, and ITEM for the items of an array."""
ITEM = "[]"

MAX_DIGITS = 38
_MAY_BE_ROUNDED = r"(?:^|[\[:,])\s*-?(?:[0-9.]{16}|[0-9.]+[eE])"
"""What JSON contains in which a double may round a number: one of 15 digits or more, or with an exponent."""


class _Numbers(NamedTuple):
    """What is known of the numbers of a field. before, after: digits around the point, at most."""

    path: Path
    before: int
    after: int
    is_rounded: bool


def convert_rounding_types(
    texts: "DataFrame", schema: "StructType", kept: Sequence[Path] = ()
) -> "tuple[StructType, list[str]]":
    """Return a schema whose new fields do not round, if that is possible, and the fields that do.

    texts: a column of JSON objects. kept: fields whose types stay as they are.
    """
    types = dict(_list_numbers(schema, ()))
    has_decimals = any(type.typeName() == "decimal" for type in types.values())
    suspicious = texts if has_decimals else texts.where(texts[0].rlike(_MAY_BE_ROUNDED))
    rounded = {field.path for field in _measure(suspicious, types)} if types else set()
    new = {path: types[path] for path in rounded - {*kept} if types[path].typeName() == "double"}
    if not new:
        return schema, _describe(rounded, types)
    sizes = dict.fromkeys(new, (0, 0))
    for field in _measure(texts, new, all_numbers=True):
        before, after = sizes[field.path]
        sizes[field.path] = max(before, field.before), max(after, field.after)
    scales = {path: after for path, (before, after) in sizes.items() if before + after <= MAX_DIGITS}
    return _replace_types(schema, scales), _describe(rounded - scales.keys(), types)


def list_paths(schema: "StructType") -> list[Path]:
    """Return the paths of all numbers in a schema that may be rounded."""
    return [path for path, _ in _list_numbers(schema, ())]


def _describe(paths: Iterable[Path], types: "dict[Path, DataType]") -> list[str]:
    return [
        f"{'.'.join(path).replace(f'.{ITEM}', ITEM)} ({types[path].simpleString().upper()})"
        for path in sorted(paths)
    ]


def _list_numbers(type: "DataType", path: Path) -> "Iterator[tuple[Path, DataType]]":
    from pyspark.sql.types import ArrayType, DecimalType, DoubleType, StructType

    if isinstance(type, StructType):
        for field in type.fields:
            yield from _list_numbers(field.dataType, (*path, field.name))
    elif isinstance(type, ArrayType):
        yield from _list_numbers(type.elementType, (*path, ITEM))
    elif isinstance(type, (DoubleType, DecimalType)):
        yield path, type


def _replace_types(schema: "StructType", scales: "dict[Path, int]") -> "StructType":
    """Return a schema in which fields are decimals. scales: by path."""
    from pyspark.sql.types import ArrayType, DecimalType, StructField, StructType

    def replace(type: "DataType", path: Path) -> "DataType":
        if path in scales:
            return DecimalType(MAX_DIGITS, scales[path])
        if isinstance(type, ArrayType):
            return ArrayType(replace(type.elementType, (*path, ITEM)), type.containsNull)
        return replace_fields(type, path) if isinstance(type, StructType) else type

    def replace_fields(type: "StructType", path: Path) -> "StructType":
        return StructType([StructField(f.name, replace(f.dataType, (*path, f.name))) for f in type.fields])

    return replace_fields(schema, ())


def _measure(
    texts: "DataFrame", types: "dict[Path, DataType]", *, all_numbers: bool = False
) -> list[_Numbers]:
    """Return what is known of the numbers of these fields that are rounded, or of all of them."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.functions import arrow_udf

    scales = {path: getattr(type, "scale", None) for path, type in types.items()}

    def measure(column: pa.Array) -> pa.Array:
        rows = [list(_measure_text(text, scales, all_numbers)) for text in column.to_pylist()]
        return pa.array(rows, pa.list_(pa.string()))

    found = texts.select(F.explode(arrow_udf(measure, "array<string>")(texts[0])).alias("n")).distinct()  # type: ignore[call-overload]
    entries = []
    for (entry,) in found.collect():
        *path, before, after, is_rounded = parse_json(entry)
        entries.append(_Numbers(tuple(path), before, after, is_rounded))
    return entries


def _measure_text(text: str, scales: dict[Path, int | None], all_numbers: bool) -> Iterator[str]:
    from jsctl.spark.decoding.variants import count_digits, is_double, parse_exact

    try:
        value = parse_exact(text)
    except ValueError:
        return  # a bad payload
    for path, scale in scales.items():
        for number in _find_numbers(value, path):
            before, after = count_digits(number)
            is_rounded = not is_double(number) if scale is None else after > scale
            if is_rounded or all_numbers:
                yield json.dumps((*path, before, after, is_rounded))


def _find_numbers(value: Any, path: Path) -> Iterator[int | Decimal]:
    if not path:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            yield value
    elif path[0] == ITEM and isinstance(value, list):
        for item in value:
            yield from _find_numbers(item, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _find_numbers(value[path[0]], path[1:])
