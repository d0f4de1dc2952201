"""Register the data source `jetstream` with a connection inside.

Everyone who sees a plan, Spark's pages or its logs sees options, and the files that they name are on
this machine only. So the settings, with the content of those files, become part of the data source's class,
which Spark passes on to its tasks as bytes and shows nowhere. jsctl's own commands read in this way;
`connect` is for notebooks.
"""

import os
from typing import TYPE_CHECKING

from jsctl import loops
from jsctl.contexts.settings import Settings
from jsctl.nats import login
from jsctl.spark.session import cluster, task_archive
from jsctl.spark.session.settings_box import prepare_settings_for_tasks
from jsctl.spark.source import options as read_options

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(spark: "SparkSession", *, pushdown: bool = False, **options: str) -> None:
    """Make `jetstream` of this session read and write with these connection options, such as context="prod".

    Reads and writes must not give them again. On a cluster the executors get jsctl with it.

    Args:
        pushdown: let filters of batch queries reach the server. A frame is then for one query: Spark plans a
            Python data source once, and a second query over the same frame would get the rows of the first
            one's filters (Spark 4.3: PythonDataSourceV2 keeps what the first scan planned).

    Raises BadInput, NotFound.
    """
    by_name = {name.lower(): value for name, value in options.items()}
    read_options.refuse_unknown_options(by_name, read_options.CONNECTION_OPTIONS)
    settings = read_options.resolve_connection_settings(by_name, os.environ)
    if cluster.runs_elsewhere(spark):
        task_archive.ship(spark)
    register(spark, settings, "jetstream", pushdown=pushdown)


def register(
    spark: "SparkSession", settings: Settings, name: str, *, lenient: bool = False, pushdown: bool = False
) -> None:
    """Make `spark.read.format(name)` read with these settings.

    Its options are those of the data source without the connection's. lenient: leave out sequences in the
    options that no longer exist. pushdown: see `connect`. Raises what `login.with_files` does.
    """
    from jsctl.spark.datasource.data_source import JetStreamSource

    is_pushdown_enabled = pushdown and _enable_pushdown(spark)
    portable_settings = loops.run(login.with_files(settings))

    class ConnectedSource(JetStreamSource):  # pickled by value, as no module has it
        settings = prepare_settings_for_tasks(spark, portable_settings)
        takes_filters = is_pushdown_enabled
        is_lenient = lenient

        @classmethod
        def name(cls) -> str:
            return name

    spark.dataSource.register(ConnectedSource)


def _enable_pushdown(spark: "SparkSession") -> bool:
    """Let readers of this session take filters; return False when this version of Spark cannot."""
    try:
        spark.conf.set(_PUSHDOWN, "true")
        return spark.conf.get(_PUSHDOWN) == "true"
    except Exception:  # of the JVM, or of a Connect server
        return False
