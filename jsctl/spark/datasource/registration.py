"""Registration of the data source `jetstream` together with a connection.

Options are visible in plans, on Spark's pages and in its logs, and the files that they name exist on this
machine only. So the settings, with the contents of those files, become part of the data source's class, which
Spark passes to its tasks as bytes and shows nowhere. jsctl's own commands read in this way; `connect` is for
notebooks.
"""

import os
import sys
from typing import TYPE_CHECKING

from jsctl.base import loops
from jsctl.contexts.settings import Settings
from jsctl.nats import login
from jsctl.schema.remote.registry import read_login
from jsctl.spark.session import cluster, task_archive
from jsctl.spark.session.session import get_or_start_session
from jsctl.spark.session.settings_box import prepare_settings_for_tasks
from jsctl.spark.source import options as read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(spark: "SparkSession | None", **options: str) -> "SparkSession":
    """See jsctl.spark.connect."""
    task_archive.provide_pynacl()  # this process may have jsctl from an archive, too
    by_name = {name.lower(): value for name, value in options.items()}
    read_options.refuse_unknown_options(by_name, read_options.CONNECTION_OPTIONS)
    settings = read_options.resolve_connection_settings(by_name, os.environ)
    if spark is None:
        spark = get_or_start_session()
    if cluster.runs_elsewhere(spark):
        task_archive.ship(spark)
    elif not os.environ.get("PYSPARK_PYTHON"):
        # Spark takes the python3 on PATH, which is another one for `venv/bin/python job.py`.
        spark.sparkContext.pythonExec = sys.executable
    register(spark, settings, "jetstream")
    return spark


def register(spark: "SparkSession", settings: Settings, name: str, *, lenient: bool = False) -> None:
    """Make `spark.read.format(name)` read with these settings.

    Its options are those of the data source, except the connection's. lenient: leave out sequences in the
    options that no longer exist. Raises what `login.with_files` raises.
    """
    from jsctl.spark.datasource.data_source import JetStreamSource

    registry_login = read_login()
    portable_settings = loops.run(login.with_files(settings))

    class ConnectedSource(JetStreamSource):  # pickled by value, as no module has it
        settings = prepare_settings_for_tasks(spark, portable_settings)
        login = prepare_settings_for_tasks(spark, registry_login)
        is_lenient = lenient

        @classmethod
        def name(cls) -> str:
            return name

    spark.dataSource.register(ConnectedSource)
