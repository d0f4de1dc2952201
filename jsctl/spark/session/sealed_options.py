"""The data source with its connection inside.

Options are seen by everyone who sees a plan, Spark's pages or its logs, and the files that they name are on
this machine only. So the settings, with what their files say, become part of the class, which Spark passes on
to its tasks as bytes and shows nowhere. jsctl's own commands read in this way; `connect` is for notebooks.
"""

import asyncio
import hashlib
import importlib
import os
import pickle
import secrets
from typing import TYPE_CHECKING, Any, cast

from jsctl.contexts.settings import Settings
from jsctl.nats import login
from jsctl.spark.session import cluster
from jsctl.spark.source import options as read_options

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


class Closed:
    """Settings as a Connect server may see them, which writes what it is sent to its log at times: pickled,
    they are encrypted. The key is in the archive that goes to its tasks; there they are Settings again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __reduce__(self) -> tuple[Any, ...]:
        module, key = cluster.key()
        nonce = secrets.token_bytes(16)
        return _opened, (module, nonce, _mixed(key, nonce, pickle.dumps(self._settings)))


def closed(spark: "SparkSession", settings: Settings) -> Settings:
    """Settings for tasks. Only they are to use them."""
    return settings if getattr(spark, "_sc", None) is not None else cast(Settings, Closed(settings))


def _opened(module: str, nonce: bytes, data: bytes) -> Settings:
    found: Settings = pickle.loads(_mixed(importlib.import_module(module).KEY, nonce, data))
    return found


def _mixed(key: bytes, nonce: bytes, data: bytes) -> bytes:
    """Encrypt, or decrypt: a stream of SHAKE256 is laid over the data."""
    stream = hashlib.shake_256(key + nonce).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, stream, strict=True))


def register(spark: "SparkSession", settings: Settings, name: str) -> None:
    """Make `spark.read.format(name)` read from there. Its options are those of the data source without a
    connection's. Raises what `login.carried` does."""
    from jsctl.spark.source.batch import JetStreamSource

    carried = asyncio.run(login.carried(settings))

    class Sealed(JetStreamSource):  # pickled by value, as no module has it
        settings = closed(spark, carried)

        @classmethod
        def name(cls) -> str:
            return name

    spark.dataSource.register(Sealed)
