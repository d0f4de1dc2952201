"""A Spark session for one command: quiet, in UTC, and leaving nothing behind.

If PySpark, pyarrow or Java is missing, an error says what to install before anything is started. What the
JVM writes goes to a file that is only read to explain a failure.
"""

import atexit
import contextlib
import importlib.util
import logging
import os
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsctl.base.files import temporary_folder
from jsctl.contexts.model import strip_login
from jsctl.errors import BadInput, JsctlError, MissingDependency, Unreachable
from jsctl.spark.session import class_archive, cluster, java, jvm, task_archive
from jsctl.spark.session.packages import PACKAGES_SETTING
from jsctl.spark.session.spark_errors import extract_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
_PACKAGES = {"pyspark": "PySpark", "pyarrow": "PyArrow"}
_CONNECT_PACKAGES = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "pandas": "pandas",
    "zstandard": "zstandard",
}
"""Packages by module."""

RUNTIME_CONF = {
    "spark.sql.session.timeZone": "UTC",
    # Spark's default is INT96, which other readers read as a time without a zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "4",
}
"""Settings that a session accepts at any time, also over Spark Connect."""

CATALOG = "spark.sql.catalogImplementation"
HIVE = "hive"
"""The setting for the session's own catalog, and its value for one that is kept."""

_STATIC_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    CATALOG: "in-memory",  # Hive's would leave a metastore_db
}

FOLDERS = "jsctl-spark-"
"""The prefix of sessions' temporary folders, which hold Spark's own files and the archive with its key."""

DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
FAST_START_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
FAST_START_CONF = {
    f"spark.{process}.extraJavaOptions": FAST_START_OPTIONS for process in ("driver", "executor")
}
"""Settings for small tables: JVMs start faster, but run longer jobs more slowly."""

_COMPLETE_JAVA = "this Java lacks a part that Spark needs: point JAVA_HOME at a whole JRE or JDK"

STARTING = "Starting Spark"
SLOW_START = 5.0  #: seconds that a start takes when people are told how to have it faster
STARTED_SLOWLY = "jsctl: Spark started slowly; jsctl spark warm-up, once, halves the time that it takes"
_CONNECT_TIMEOUT = 10  #: seconds for a Connect server's first answer
_END_TIMEOUT = 10  #: seconds for the JVM to end
_WRITE_TIMEOUT = 900  #: seconds for it to end when it writes its classes


def check_environment(master: str = "", remote: str = "") -> None:
    """Raise MissingDependency unless PySpark can run here, BadInput when both a master and a remote are
    named, Unreachable when a cluster does not answer. A remote Spark (Connect) needs no Java."""
    if master and remote:
        raise BadInput("--master and --remote cannot be used together", "use one of them")
    if remote and not remote.startswith("sc://"):
        raise _invalid_remote(remote)
    check_packages(_CONNECT_PACKAGES if remote else None)
    if not remote:
        java.find_java()
    cluster.find_local_address(remote or master)  # Spark would try for minutes


def check_packages(more: Mapping[str, str] | None = None) -> None:
    """Raise MissingDependency unless PySpark and PyArrow are installed. more: modules and their packages that
    are needed, too."""
    for module, package in {**_PACKAGES, **(more or {})}.items():
        if not _is_installed(module):
            raise MissingDependency(f"{package} is not installed", "run: pip install 'jsctl[spark]'")


def _invalid_remote(remote: str) -> BadInput:
    return BadInput(
        f"--remote {strip_login(remote)} is not the URL of a Spark Connect server",
        "use one such as sc://host:15002; parameters follow /; as NAME=VALUE",
    )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def preload() -> None:
    """Import PySpark for `open_session`, while the caller waits for something else."""
    import pyspark.sql  # noqa: F401


@contextlib.contextmanager
def open_session(
    master: str = "",
    remote: str = "",
    *,
    name: str = "jsctl",
    conf: Mapping[str, str] | None = None,
    new_archive: Path | None = None,
) -> Iterator["SparkSession"]:
    """Open a session, and close it with its JVM at the end. A session that this process already has is used
    and kept.

    Args:
        master: URL of a cluster; empty is LOCAL.
        remote: URL of a Spark Connect server, instead of a master.
        conf: further settings for Spark.
        new_archive: where the JVM writes its classes when it ends, which takes seconds; without it, the JVM
            uses an existing archive (see `class_archive`).

    Raises what `check_environment` raises, and JsctlError when Spark does not start.
    """
    check_environment(master, remote)
    with _interrupts_first(), _open(master, remote, name, conf or {}, new_archive) as spark:
        yield spark


@contextlib.contextmanager
def _interrupts_first() -> Iterator[None]:
    """Raise KeyboardInterrupt for an error that ctrl-C caused: after it, PySpark's `toArrow` waits for its
    job, and raises that the job was cancelled."""
    try:
        yield
    except Exception as error:
        cause = error.__context__
        while cause and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause:
            raise KeyboardInterrupt from None
        raise


@contextlib.contextmanager
def _open(
    master: str, remote: str, name: str, conf: Mapping[str, str], new_archive: Path | None
) -> Iterator["SparkSession"]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    _disable_repeated_logs()
    if SparkContext._active_spark_context is not None:
        new_session = SparkSession.builder.getOrCreate().newSession()  # with settings and views of its own
        for key, value in RUNTIME_CONF.items():
            new_session.conf.set(key, value)
        yield new_session
        return
    with temporary_folder(FOLDERS) as folder:
        folder_name = str(folder)
        opened = _connect(remote, conf) if remote else _start(master, name, conf, folder_name, new_archive)
        with opened as spark:
            if remote or not cluster.is_local(master):
                with cluster.watch_connection(spark, remote or master):
                    task_archive.ship(spark, folder)
                    yield spark
            else:
                yield spark


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Which Spark a command uses, and how.

    name: of the application. master, remote: as for `open_session`. conf: further settings for Spark. say:
    shows a sentence to people, if there are any. show_status: shows a line to them until the next one, empty
    for none.
    """

    name: str = "jsctl"
    master: str = ""
    remote: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] | None = None
    show_status: Callable[[str], None] = lambda text: None

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Say that Spark starts, in what is done for it before `open`, which says it, too."""
        self.show_status(STARTING)
        try:
            yield
        finally:
            self.show_status("")

    @contextlib.contextmanager
    def open(self, *, fast_start: bool = True) -> Iterator["SparkSession"]:
        """Open the session. fast_start: for short work, see FAST_START_CONF.

        Raises what `open_session` raises.
        """
        conf = {**(FAST_START_CONF if fast_start else {}), **self.conf}
        begin = time.monotonic()
        opening = open_session(self.master, self.remote, name=self.name, conf=conf)
        with contextlib.ExitStack() as stack:
            with self.starting():
                spark = stack.enter_context(opening)
            is_slow = time.monotonic() - begin > SLOW_START
            starts_jvm = not self.remote and PACKAGES_SETTING not in conf  # packages are loaded at first
            if self.say and starts_jvm and is_slow and class_archive.should_offer():
                self.say(STARTED_SLOWLY)
            yield spark


def get_or_start_session() -> "SparkSession":
    """Return the session of this process, or open one on this machine until the process ends. Raises what
    `open_session` raises."""
    check_environment()
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    if spark is None:
        session = contextlib.ExitStack()
        spark = session.enter_context(open_session())
        atexit.register(session.close)
    return spark


@contextlib.contextmanager
def _connect(remote: str, conf: Mapping[str, str]) -> Iterator["SparkSession"]:
    """Open a session over Spark Connect. FAST_START_CONF is ignored, as the JVM is already running."""
    import grpc
    from pyspark.errors import PySparkValueError
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy

    # The warning repeats the error.
    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")
    public_url = strip_login(remote)
    try:
        builder = DefaultChannelBuilder(remote)
    except PySparkValueError:  # its message quotes parts of the URL, which may be secrets
        raise _invalid_remote(remote) from None
    try:
        channel = builder.toChannel()
        with contextlib.closing(channel):
            grpc.channel_ready_future(channel).result(_CONNECT_TIMEOUT)
        # Retry for five seconds when a server goes away; the default is ten minutes.
        policy = DefaultPolicy(max_retries=5, max_backoff=2000, max_server_retry_delay=2000)
        spark = SparkSession.builder.remote(remote).getOrCreate()
        spark.client.set_retry_policies([policy])
        for key, value in {**RUNTIME_CONF, **conf}.items():
            if key not in FAST_START_CONF:
                spark.conf.set(key, value)
    except grpc.FutureTimeoutError:
        raise Unreachable(
            f"no Spark Connect server answers at {public_url}",
            "check the address, and whether the server expects TLS",
        ) from None
    except Exception as error:
        raise JsctlError(f"cannot use Spark Connect at {public_url}: {extract_message(error)}") from None
    try:
        yield spark
    finally:
        with contextlib.suppress(Exception):  # the server may have ended, and is asked only once
            spark.client.set_retry_policies([])
            spark.stop()


@contextlib.contextmanager
def _start(
    master: str, name: str, conf: Mapping[str, str], folder: str, new_archive: Path | None
) -> Iterator["SparkSession"]:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    local = cluster.is_local(master)
    settings_by_name = {
        **_STATIC_CONF,
        **RUNTIME_CONF,
        "spark.master": master or LOCAL,
        "spark.app.name": name,
        "spark.sql.warehouse.dir": str(Path(folder, "warehouse")),
        "spark.local.dir": str(Path(folder, "local")),
        "spark.sql.artifact.isolation.enabled": "false",  # would make a folder artifacts/ here
        "spark.hadoop.fs.permissions.umask-mode": f"{_read_umask(folder):03o}",  # Hadoop has one of its own
    }
    if master.startswith("spark:"):
        # Executors must reach this process, even if its host name resolves to 127.0.1.1.
        settings_by_name["spark.driver.host"] = cluster.find_local_address(master)
    elif master.startswith("local") or local:
        settings_by_name |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if conf.get(CATALOG) == HIVE:  # whose tables outlive the session: Spark's own default is a folder here
        del settings_by_name["spark.sql.warehouse.dir"]
    settings_by_name |= conf
    archive = class_archive.write_options(new_archive) if new_archive else class_archive.read_options()
    settings_by_name[DRIVER_OPTIONS] = f"{settings_by_name.get(DRIVER_OPTIONS, '')} {archive}".strip()
    settings = SparkConf(loadDefaults=False).setAll([*settings_by_name.items()])
    log = Path(folder, "spark.log")
    gateway: Any = None
    # Spark would use the python3 on PATH, which may lack jsctl.
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    importing = threading.Thread(target=_import_frames, daemon=True)
    importing.start()
    try:
        try:
            gateway = jvm.start(settings_by_name.items(), log)
            importing.join()
            # A metastore of Hive would write it here.
            gateway.jvm.System.setProperty("derby.stream.error.file", str(Path(folder, "derby.log")))
            SparkContext(gateway=gateway, conf=settings)
            spark = SparkSession.builder.config(conf=settings).getOrCreate()
            application = spark.sparkContext.applicationId
        except JsctlError:
            raise
        except Exception as error:
            reason = _find_failure_reason(log, error)  # while the JVM can still answer
            hint = _COMPLETE_JAVA if re.fullmatch(r"Module \S+ not found", reason) else ""
            raise JsctlError(f"Spark does not start: {reason}", hint) from None
    except BaseException:
        jvm.end(gateway, _END_TIMEOUT)
        raise
    timeout = 0 if new_archive else _END_TIMEOUT  # what failed or was stopped writes no archive
    try:
        yield spark
        timeout = _WRITE_TIMEOUT if new_archive else _END_TIMEOUT
    finally:
        with contextlib.suppress(Exception):  # the JVM may be gone
            spark.stop()
        jvm.end(gateway, timeout)
        if not local and master.startswith("local-cluster"):  # its workers keep the archive
            shutil.rmtree(java.find_spark_home() / "work" / application, ignore_errors=True)


def _read_umask(folder: str) -> int:
    """Return the umask, as seen from a new folder: `os.umask` would change it for all threads."""
    probe = Path(folder, "local")
    probe.mkdir()
    return 0o777 & ~probe.stat().st_mode


def _import_frames() -> None:
    """Import the modules that the first data frame needs, while the JVM starts."""
    with contextlib.suppress(ImportError):
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark.sql.pandas.types  # noqa: F401


def _disable_repeated_logs() -> None:
    """Disable logs of PySpark and Py4J that repeat an error.

    PySpark writes each failing query to stderr with its Java stack, and Py4J all calls that are unanswered
    when the JVM ends.
    """
    from pyspark.logger import PySparkLogger

    # jsctl does not use pandas, but the Connect client requires it.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger().addFilter(_is_not_of_py4j)  # it has no logger of its own for them


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _find_failure_reason(log: Path, error: BaseException) -> str:
    """Return the line of Spark's log that names the failure, else the error's own."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    # The cause of a failed boot layer, such as a module missing in a reduced Java, is in the following line.
    causes = [
        line
        for line in lines
        if ("Exception" in line or line.startswith("Error")) and not line.endswith("of boot layer")
    ]
    return re.sub(r"^.*?(Exception|Error): ", "", causes[0]).strip() if causes else extract_message(error)
