"""A Spark session for one command: quiet, in UTC, with nothing left behind.

Without PySpark, pyarrow or Java one line says what to install, before anything is tried. The JVM hangs on
a pipe from this process, so that it ends with it, also after kill -9; its stderr goes to a file that is
read only to explain a failure.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsctl.errors import BadInput, JsctlError, MissingDependency, Unreachable
from jsctl.spark.session import cluster, task_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
MIN_JAVA = 17  #: what Spark 4 needs

_NEEDED = {"pyspark": "PySpark", "pyarrow": "PyArrow"}
_NEEDED_BY_CONNECT = {
    "grpc": "grpcio", "grpc_status": "grpcio-status", "google.rpc": "googleapis-common-protos",
    "pandas": "pandas", "zstandard": "zstandard",
}  # fmt: skip
"""Module -> package."""

_JAVA_HINT = f"install Java {MIN_JAVA} or newer (a JRE is enough), or point JAVA_HOME at one"

RUNTIME_CONF = {
    "spark.sql.session.timeZone": "UTC",
    # Spark's own default is INT96, which other readers take for a time without a zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "4",
}
"""Settings that a session may take at any time, also one over Spark Connect."""

_STATIC_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",  # Hive's would leave a metastore_db
}


QUICK = {
    f"spark.{process}.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    for process in ("driver", "executor")
}
"""For small tables: JVMs start faster, and would do much more slowly."""

_CONNECT_TIME = 10  #: seconds for a Connect server's first answer


def check(master: str = "", remote: str = "") -> None:
    """Raise MissingDependency unless PySpark can run here, BadInput when both a master and a remote are
    named, Unreachable when a cluster does not answer. A remote Spark (Connect) needs no Java."""
    if master and remote:
        raise BadInput("--master and --remote exclude each other", "give one")
    if remote and not remote.startswith("sc://"):
        raise BadInput(
            f"--remote {cluster.public(remote)} is no Spark Connect server", "such as sc://host:15002"
        )
    for module, package in {**_NEEDED, **(_NEEDED_BY_CONNECT if remote else {})}.items():
        if not _has(module):
            raise MissingDependency(f"{package} is not installed", "run: pip install 'jsctl[spark]'")
    if not remote:
        _check_java()
    cluster.reach(remote or master)  # Spark would try for minutes


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _check_java() -> None:
    """Look for Java where Spark's own start script does: JAVA_HOME, then PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if not java:
        where = (
            f"JAVA_HOME is {home}, which has no bin/java" if home else "Spark needs Java, and there is none"
        )
        raise MissingDependency(where, _JAVA_HINT)
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
        text = said.stderr + said.stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependency(f"{java} does not run: {error}", _JAVA_HINT) from None
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    if not found:
        raise MissingDependency(f"{java} is no working Java", _JAVA_HINT)
    if int(found[1]) < MIN_JAVA:
        raise MissingDependency(f"{java} is Java {found[1]}, too old for Spark", _JAVA_HINT)


@contextlib.contextmanager
def session(
    master: str = "", remote: str = "", *, name: str = "jsctl", conf: Mapping[str, str] | None = None
) -> Iterator["SparkSession"]:
    """A session, closed at the end with its JVM. A Spark that this process has already is used, and left.

    master: a cluster's URL; empty is LOCAL. remote: a Spark Connect URL, instead of a master.
    Raises what `check` does, and JsctlError when Spark does not start.
    """
    check(master, remote)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    _silence()
    if SparkContext._active_spark_context is not None:
        own = SparkSession.builder.getOrCreate().newSession()  # settings and views of our own
        for key, value in RUNTIME_CONF.items():
            own.conf.set(key, value)
        yield own
        return
    with tempfile.TemporaryDirectory(prefix="jsctl-spark-", ignore_cleanup_errors=True) as folder:
        opened = _connect(remote, conf or {}) if remote else _start(master, name, conf or {}, folder)
        with opened as spark:
            if remote or not cluster.is_local(master):
                with cluster.watched(spark, remote or master):
                    task_archive.ship(spark, Path(folder))
                    yield spark
            else:
                yield spark


@contextlib.contextmanager
def _connect(remote: str, conf: Mapping[str, str]) -> Iterator["SparkSession"]:
    """Settings of a JVM that is not ours are left out."""
    import grpc
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy

    # It says with a warning what the error says, too.
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")
    shown = cluster.public(remote)
    try:
        channel = DefaultChannelBuilder(remote).toChannel()
        with contextlib.closing(channel):
            grpc.channel_ready_future(channel).result(_CONNECT_TIME)
        # A server that goes away is asked for five seconds more, else for ten minutes.
        policy = DefaultPolicy(max_retries=5, max_backoff=2000, max_server_retry_delay=2000)
        spark = SparkSession.builder.remote(remote).getOrCreate()
        spark.client.set_retry_policies([policy])
        for key, value in {**RUNTIME_CONF, **conf}.items():
            if key not in QUICK:
                spark.conf.set(key, value)
    except grpc.FutureTimeoutError:
        raise Unreachable(
            f"no Spark Connect server answers at {shown}", "is it one, and TLS as it wants it?"
        ) from None
    except Exception as error:
        raise JsctlError(f"cannot use Spark Connect at {shown}: {first_line(error)}") from None
    try:
        yield spark
    finally:
        with contextlib.suppress(Exception):  # the server may be gone, and is asked only once
            spark.client.set_retry_policies([])
            spark.stop()


@contextlib.contextmanager
def _start(master: str, name: str, conf: Mapping[str, str], folder: str) -> Iterator["SparkSession"]:
    from pyspark import SparkConf, SparkContext
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    local = cluster.is_local(master)
    chosen = {
        **_STATIC_CONF,
        **RUNTIME_CONF,
        "spark.master": master or LOCAL,
        "spark.app.name": name,
        "spark.sql.warehouse.dir": str(Path(folder, "warehouse")),
        "spark.local.dir": str(Path(folder, "local")),
        "spark.sql.artifact.isolation.enabled": "false",  # would make a folder artifacts/ here
    }
    if master.startswith("spark:"):
        # Executors must reach this process, also where its host's name means 127.0.1.1.
        chosen["spark.driver.host"] = cluster.reach(master)
    elif master.startswith("local") or local:
        chosen |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings = SparkConf(loadDefaults=False).setAll([*{**chosen, **conf}.items()])
    log = Path(folder, "spark.log")
    gateway: Any = None
    # Else Spark's Python processes are whatever python3 is on PATH, without jsctl and the data source.
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with log.open("wb") as out, _our_python_first():
            gateway = launch_gateway(settings, {"stdout": out, "stderr": out})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway, conf=settings)
        spark = SparkSession.builder.config(conf=settings).getOrCreate()
        application = spark.sparkContext.applicationId
    except Exception as error:
        reason = _why(log, error)  # as long as the JVM can be asked
        _end(gateway)
        raise JsctlError(f"Spark does not start: {reason}") from None
    except BaseException:
        _end(gateway)
        raise
    try:
        yield spark
    finally:
        with contextlib.suppress(Exception):  # the JVM may be gone
            spark.stop()
        _end(gateway)
        if not local and master.startswith("local-cluster"):  # its workers keep what they were given
            shutil.rmtree(Path(_find_spark_home(), "work", application), ignore_errors=True)


@contextlib.contextmanager
def _our_python_first() -> Iterator[None]:
    """For the JVM, `python3` is this Python. Executors on other machines, which are told the same name, have
    theirs."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _end(gateway: Any) -> None:
    """End the JVM, and make PySpark forget it, so that a later session starts another."""
    from pyspark import SparkContext

    SparkContext._gateway = None
    SparkContext._jvm = None
    if gateway is None:
        return
    with contextlib.suppress(Exception):
        gateway.shutdown()
    process: subprocess.Popen[bytes] = gateway.proc
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _silence() -> None:
    """PySpark also logs each failing query to stderr, with its Java stack; the failure itself is enough."""
    from pyspark.logger import PySparkLogger

    # Nothing here is done with pandas, which the Connect client wants to be installed.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def first_line(error: BaseException) -> str:
    """What a Spark error says, without its class, its state number and its Java stack."""
    try:
        text = str(error)
    except Exception:  # a Java error has its text in the JVM, which may be gone
        text = "the JVM is gone"
    line = next(iter(text.strip().splitlines()), "") or type(error).__name__
    return re.sub(r"^\[[A-Z0-9_.]+\] | SQLSTATE: .*", "", line)


def _why(log: Path, error: BaseException) -> str:
    """The line of Spark's log that names the failure, else the error's own."""
    said = log.read_text(errors="replace").splitlines() if log.exists() else []
    causes = [line for line in said if "Exception" in line or line.startswith("Error")]
    return re.sub(r"^.*?(Exception|Error): ", "", causes[0]).strip() if causes else first_line(error)
