"""Decoding of the payloads of a frame of messages, in Spark's tasks."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from jsctl.spark.decoding.columns import PayloadColumns
from jsctl.spark.session.settings_box import prepare_settings_for_tasks

if TYPE_CHECKING:
    from pyspark.sql import Column

DECODED = "_jsctl_decoded"


def decoded(payloads: PayloadColumns, column: str) -> "Column":
    """Return a struct of the columns for the payloads in a column. Raises BadInput, MissingDependency."""
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.functions import arrow_udf

    decoding = payloads.decoding
    if decoding.has_address:
        login = prepare_settings_for_tasks(SparkSession.active(), decoding.login)
        decoding = replace(decoding, login=login)
    in_tasks = replace(payloads, decoding=decoding)

    def decode(data: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays(in_tasks.decode_arrays(data), names=in_tasks.schema.names)

    return arrow_udf(decode, payloads.schema)(column)  # type: ignore[call-overload,no-any-return]
