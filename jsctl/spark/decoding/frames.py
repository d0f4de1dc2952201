"""Decoding of the payloads of a frame of messages, in Spark's tasks."""

from typing import TYPE_CHECKING

import pyarrow as pa

from jsctl.spark.decoding.columns import PayloadColumns

if TYPE_CHECKING:
    from pyspark.sql import Column

DECODED = "_jsctl_decoded"


def decoded(payloads: PayloadColumns, column: str) -> "Column":
    """Return a struct of the columns for the payloads in a column. Raises BadInput, MissingDependency."""
    from pyspark.sql.pandas.functions import arrow_udf

    def decode(data: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays(payloads.decode_arrays(data), names=payloads.schema.names)

    return arrow_udf(decode, payloads.schema)(column)  # type: ignore[call-overload,no-any-return]
