"""The rows of a query as JSON has them: the one place that turns values of Spark into those of JSON.

| type                        | value                                                                        |
|-----------------------------|------------------------------------------------------------------------------|
| boolean, string, integers   | the same                                                                     |
| decimal                     | a number with all of its digits, a Decimal here                              |
| float, double               | the shortest number that is the same; NaN, Infinity and -Infinity as texts   |
| timestamp                   | an aware datetime in UTC; nested, or where Python has no such year, its text |
| date, time, timestamp_ntz   | ISO 8601                                                                     |
| intervals                   | as SQL writes them                                                           |
| binary, geometries          | bytes; nested, text or base64 by the rule of `encode_field`                  |
| array, map, struct, variant | lists, objects, objects, any JSON                                            |

Names of columns, and of the fields of a struct, that are equal to an earlier one get a number: a, a_2.
"""

import base64
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from jsctl.base.json_text import parse_json
from jsctl.jetstream.message.payload import encode_field, name_of_base64

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_AS_JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def build_distinct_names(names: Sequence[str]) -> list[str]:
    """Return names of which none is equal to another one: a, a_2, a_3."""
    numbered: list[str] = []
    for name in names:
        number, new = 1, name
        while new in numbered or (number > 1 and new in names):
            number += 1
            new = f"{name}_{number}"
        numbered.append(new)
    return numbered


def fetch_rows(frame: "DataFrame") -> Iterator[list[Any]]:
    """Yield the rows of a frame. Raises what Spark raises."""
    from pyspark.sql import functions as F

    types = [field.dataType for field in frame.schema.fields]
    numbers = [f"_{number}" for number in range(len(types))]
    sent = [_to_sent(F.col(name), type).alias(name) for name, type in zip(numbers, types, strict=True)]
    # Not `collect`, which would drop the zones of times.
    table = frame.toDF(*numbers).select(*sent).toArrow()
    columns = [
        [None if value is None else convert(value) for value in table.column(at).to_pylist()]
        for at, convert in enumerate(map(_build_converter, types))
    ]
    return map(list, zip(*columns, strict=True))


def _to_sent(column: "Column", type: "DataType") -> "Column":
    """Return a column as Arrow and Python can hold it: as text, where they cannot."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, BooleanType, DecimalType, DoubleType, IntegralType, StringType

    if isinstance(type, (BinaryType, BooleanType, DecimalType, DoubleType, IntegralType, StringType)):
        return column
    if _is_nested(type):
        return F.to_json(column.cast(_plain(type)), _AS_JSON)
    if type.typeName() in ("geometry", "geography"):
        return F.call_function("st_asbinary", column)
    return column.cast("string")


def _is_nested(type: "DataType") -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    return isinstance(type, (ArrayType, MapType, StructType, VariantType))


def _plain(type: "DataType") -> "DataType":
    """Return a type whose values `to_json` writes as they are: names of fields are positions, as they may be
    equal, and keys are texts, as it would write those of dates as numbers of days."""
    from pyspark.sql.types import (
        ArrayType,
        MapType,
        NullType,
        StringType,
        StructField,
        StructType,
        TimestampNTZType,
    )

    match type:
        case StructType():
            fields = (StructField(f"_{at}", _plain(field.dataType)) for at, field in enumerate(type.fields))
            return StructType([*fields])
        case ArrayType():
            return ArrayType(_plain(type.elementType), type.containsNull)
        case MapType():
            return MapType(StringType(), _plain(type.valueType), type.valueContainsNull)
        case NullType() | TimestampNTZType():
            return StringType()
    return type


def _build_converter(type: "DataType") -> Callable[[Any], Any]:
    """Return what makes a value of one that was sent, which is not null."""
    from pyspark.sql.types import DoubleType, FloatType, TimestampNTZType, TimestampType

    match type:
        case FloatType() | DoubleType():
            return _convert_float
        case TimestampType():
            return _parse_time
        case TimestampNTZType():
            return _join_time
        case _ if _is_nested(type):
            return lambda text: _convert_json(_parse(text), type)
    return lambda value: value


def _parse(text: str) -> Any:
    return parse_json(text, any_depth=True, parse_float=_parse_number)


class _WithExponent(Decimal):
    """A number with an exponent. In a variant, it is a double: decimals have none there."""


def _parse_number(text: str) -> Decimal:
    return _WithExponent(text) if "E" in text else Decimal(text)


def _convert_variant(value: Any) -> Any:
    """Return the value of a variant. Before Java 19, a double may have other digits than the shortest."""
    if isinstance(value, dict):
        return {key: _convert_variant(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_convert_variant(item) for item in value]
    return float(value) if isinstance(value, _WithExponent) else value


def _convert_float(value: Any) -> float | str:
    number = float(value)
    return _NOT_FINITE.get(str(number), number)


def _join_time(text: str) -> str:
    return text.replace(" ", "T")


def _parse_time(text: str) -> datetime | str:
    text = _join_time(text) + "Z"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _convert_json(value: Any, type: "DataType") -> Any:
    """Return a value that `to_json` wrote."""
    from pyspark.sql.types import (
        ArrayType,
        BinaryType,
        DoubleType,
        FloatType,
        MapType,
        StructType,
        TimestampNTZType,
        TimestampType,
        VariantType,
    )

    if value is None:
        return None
    match type:
        case StructType():
            fields = zip(build_distinct_names(type.names), type.fields, strict=True)
            pairs = (
                _list_field(name, value.get(f"_{at}"), field.dataType)
                for at, (name, field) in enumerate(fields)
            )
            return {name: item for pair in pairs for name, item in pair.items()}
        case ArrayType():
            return [_convert_json(item, type.elementType) for item in value]
        case MapType():
            return {key: _convert_json(item, type.valueType) for key, item in value.items()}
        case FloatType() | DoubleType():
            return _convert_float(value)
        case TimestampType():
            moment = _parse_time(value.removesuffix("Z"))
            return moment.isoformat() if isinstance(moment, datetime) else moment
        case TimestampNTZType():
            return _join_time(value)
        case BinaryType():
            return value.replace("\r\n", "")
        case VariantType():
            return _convert_variant(value)
    return value


def _list_field(name: str, value: Any, type: "DataType") -> dict[str, Any]:
    """Return the field of an object: two for binary, of which one may be text and another one not."""
    from pyspark.sql.types import BinaryType

    if value is not None and isinstance(type, BinaryType):
        return encode_field(name, base64.b64decode(value))
    return {name_of_base64(name) if holds_binary_items(type) else name: _convert_json(value, type)}


def holds_binary_items(type: "DataType") -> bool:
    """Return whether a type is of arrays or maps of binary, which are base64: one that is text may stand
    beside one that is not."""
    from pyspark.sql.types import ArrayType, BinaryType, MapType

    inner = type
    while isinstance(inner, ArrayType | MapType):
        inner = inner.elementType if isinstance(inner, ArrayType) else inner.valueType
    return inner is not type and isinstance(inner, BinaryType)
