"""Decode the payloads of a frame of messages, in Spark's tasks."""

from typing import TYPE_CHECKING

import pyarrow as pa

from jsctl.spark.decoding.payloads import Decoding, payload_decoder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

DECODED = "_jsctl_decoded"
"""The column with what was decoded: `value`, and `is_bad` where that could not be."""


def decode_payloads(messages: "DataFrame", decoding: Decoding) -> "DataFrame":
    """Return messages with the column DECODED. Lazy. Raises BadInput, MissingDependency."""
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import BooleanType, StructField, StructType

    result = StructType([StructField("value", decoded_type(decoding)), StructField("is_bad", BooleanType())])

    def decode(payloads: pa.Array) -> pa.Array:
        return payload_decoder(decoding).decode(payloads)

    decoded = arrow_udf(decode, result)  # type: ignore[call-overload]
    return messages.withColumn(DECODED, decoded("data"))


def decoded_type(decoding: Decoding) -> "DataType":
    """Return Spark's type of what is in the payloads. Raises BadInput, MissingDependency."""
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(payload_decoder(decoding).type)
