"""The columns for the payload of a message: in exports, in frames and in the data source.

| decode  | columns for the payload                                                                      |
|---------|----------------------------------------------------------------------------------------------|
| (none)  | data, binary; bad_payload where it cannot be decompressed                                    |
| text    | data, string; bad_payload where it is not UTF-8                                              |
| base64  | data, binary: the payload is base64; bad_payload where it is not                             |
| json    | one for each field of the schema; bad_payload where it is not a JSON object, or does not fit |
| variant | value, a variant: any JSON value; bad_payload where it is not JSON                           |
| avro, protobuf | one for each field; bad_payload where it is not a record or message of the schema     |

For a key-value bucket, the column is called value instead of data. bad_payload has the payload as it was
stored. A field with the name of another column gets the prefix `data_`; so does one, at any depth, that
differs from an earlier one only in case.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StructField, StructType

from jsctl.spark.decoding.model import BAD_PAYLOAD, WITH_SCHEMA, Decoding
from jsctl.spark.decoding.payloads import build_payload_decoder
from jsctl.spark.session.settings_box import prepare_settings_for_tasks

if TYPE_CHECKING:
    from pyspark.sql import Column

DATA = "data"
DECODED = "_jsctl_decoded"


@dataclass(frozen=True, slots=True)
class PayloadColumns:
    """The columns of payloads.

    reserved_names: names of the other columns, which a field cannot have. keep_data: keep the payload beside
    its fields. name: of the column when a payload becomes text or bytes.
    """

    decoding: Decoding
    reserved_names: tuple[str, ...]
    keep_data: bool = False
    name: str = DATA

    @property
    def schema(self) -> StructType:
        """Their schema. Raises BadInput, MissingDependency."""
        return _build_schema(self)

    def decode_arrays(self, payloads: pa.Array) -> list[pa.Array]:
        """Return the columns for payloads. Raises BadInput, MissingDependency."""
        values, is_bad = build_payload_decoder(self.decoding).decode(payloads)
        columns = values.flatten() if self.decoding.kind in WITH_SCHEMA else [values]
        if len(columns) < len(self.schema) - 1:
            columns.append(payloads)
        columns.append(pc.if_else(is_bad, payloads, pa.scalar(None, pa.binary())))
        # Names of nested fields differ where they were renamed; their layout does not.
        return [column.view(type) for column, type in zip(columns, _build_arrow_types(self), strict=True)]

    def decode_present(self, payloads: pa.Array) -> list[pa.Array]:
        """Return what `decode_arrays` does, and null in all columns for a payload that is null."""
        is_present = payloads.is_valid()
        numbers = pc.subtract(pc.cumulative_sum(is_present.cast(pa.int64())), 1)
        places = pc.if_else(is_present, numbers, pa.scalar(None, pa.int64()))
        return [array.take(places) for array in self.decode_arrays(payloads.drop_null())]


def decode_column(payloads: PayloadColumns, column: str) -> "Column":
    """Return a struct of the columns for the payloads in a column; null in all of them where there is no
    payload. Raises BadInput, MissingDependency."""
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.functions import arrow_udf

    decoding = payloads.decoding
    if decoding.has_address:
        login = prepare_settings_for_tasks(SparkSession.active(), decoding.login)
        decoding = replace(decoding, login=login)
    in_tasks = replace(payloads, decoding=decoding)

    def decode(data: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays(in_tasks.decode_present(data), names=in_tasks.schema.names)

    return arrow_udf(decode, payloads.schema)(column)  # type: ignore[call-overload,no-any-return]


@functools.lru_cache(4)
def _build_schema(columns: PayloadColumns) -> StructType:
    decoding = columns.decoding
    type = from_arrow_type(build_payload_decoder(decoding).type)
    if isinstance(type, StructType):
        fields = rename_equal(type.fields, (*columns.reserved_names, BAD_PAYLOAD, DATA))
    else:
        fields = [StructField("value" if decoding.kind == "variant" else columns.name, type)]
    if columns.keep_data and fields[-1].name != DATA:
        fields.append(StructField(DATA, BinaryType()))
    return StructType([*fields, StructField(BAD_PAYLOAD, BinaryType())])


@functools.lru_cache(4)
def _build_arrow_types(columns: PayloadColumns) -> list[pa.DataType]:
    return [field.type for field in to_arrow_schema(columns.schema, timezone="UTC")]


def rename_equal(fields: Sequence[StructField], reserved_names: Sequence[str] = ()) -> list[StructField]:
    """Return fields with names that differ in more than case and are not in `reserved_names`, by the prefix
    `data_`.

    JSON tells `id` and `ID` apart; tables do not.
    """
    used_names = {name.lower() for name in reserved_names}
    renamed = []
    for field in fields:
        name = field.name
        while name.lower() in used_names:
            name = f"data_{name}"
        used_names.add(name.lower())
        renamed.append(StructField(name, replace_structs(field.dataType, rename_equal)))
    return renamed


def replace_structs(
    data_type: DataType, change: Callable[[Sequence[StructField]], list[StructField]]
) -> DataType:
    """Return a type with the fields of all its structs changed, including those in arrays and maps."""
    if isinstance(data_type, StructType):
        return StructType(change(data_type.fields))
    if isinstance(data_type, ArrayType):
        return ArrayType(replace_structs(data_type.elementType, change), data_type.containsNull)
    if isinstance(data_type, MapType):
        value_type = replace_structs(data_type.valueType, change)
        return MapType(data_type.keyType, value_type, data_type.valueContainsNull)
    return data_type
