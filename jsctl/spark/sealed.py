"""The data source with its connection inside.

Options are seen by everyone who sees a plan, Spark's pages or its logs, and the files that they name are on
this machine only. So the settings, with what their files say, become part of the class, which Spark passes on
to its tasks as bytes and shows nowhere. jsctl's own commands read in this way; `connect` is for notebooks.
"""

import asyncio
import os
from typing import TYPE_CHECKING

from jsctl.contexts.settings import Settings
from jsctl.jetstream import login
from jsctl.spark import cluster
from jsctl.spark import options as read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(spark: "SparkSession", **options: str) -> None:
    """Make `jetstream` of this session read and write with these options of a connection, such as
    context="prod"; they are not to be given again. On a cluster the executors get jsctl with it.

    Raises BadInput, NotFound.
    """
    given = {name.lower(): value for name, value in options.items()}
    read_options.refuse_unknown(given, read_options.CONNECTION)
    settings = read_options.connection(given, os.environ)
    if cluster.runs_elsewhere(spark):
        cluster.ship(spark)
    register(spark, settings, "jetstream")


def register(spark: "SparkSession", settings: Settings, name: str) -> None:
    """Make `spark.read.format(name)` read from there. Its options are those of the data source without a
    connection's. Raises what `login.carried` does."""
    from jsctl.spark.source import JetStreamSource

    carried = asyncio.run(login.carried(settings))

    class Sealed(JetStreamSource):  # pickled by value, as no module has it
        settings = carried

        @classmethod
        def name(cls) -> str:
            return name

    spark.dataSource.register(Sealed)
