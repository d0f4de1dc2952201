"""The data source with its connection inside: what jsctl's own commands read with.

Options are seen by everyone who sees a plan, Spark's pages or its logs, and the files that they name are on
this machine only. So the settings, with what their files say, are part of the class, which Spark passes on to
its tasks as bytes and shows nowhere.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from jsctl.contexts.settings import Settings
from jsctl.jetstream import login
from jsctl.spark import options as read_options
from jsctl.spark.options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def parse(settings: Settings, options: Mapping[str, str], *, streaming: bool | None = False) -> ReadOptions:
    """As `jsctl.spark.options.parse`, for options without a connection."""
    found = read_options.parse({**options, "servers": "-"}, {}, streaming=streaming)
    return replace(found, settings=settings)


def register(spark: "SparkSession", settings: Settings, name: str) -> None:
    """Make `spark.read.format(name)` read from there. Its options are those of the data source without a
    connection's. Raises what `login.carried` does."""
    from pyspark.sql.types import StructType

    from jsctl.spark.source import JetStreamReader, JetStreamSource, check_schema, schema_of

    carried = asyncio.run(login.carried(settings))

    class Sealed(JetStreamSource):  # pickled by value, as no module has it
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> StructType:
            return schema_of(parse(carried, self.options, streaming=None))

        def reader(self, schema: StructType) -> JetStreamReader:
            found = parse(carried, self.options)
            check_schema(schema, found)
            return JetStreamReader(found)

    spark.dataSource.register(Sealed)
