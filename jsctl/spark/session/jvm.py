"""Spark's JVM: its start, which ctrl-C ends at any moment, and its end.

PySpark would run `bin/spark-submit`, which asks Spark's launcher for a command line and runs that. Here the
launcher is asked directly: its command line may name modules that this Java lacks, PySpark would return only
when the JVM answers, which takes seconds, and no shell is needed.
"""

import contextlib
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsctl.base.files import list_locks
from jsctl.base.loops import THREAD_WAIT, enter_event_loop
from jsctl.base.signals import handle_signals
from jsctl.errors import MissingDependency
from jsctl.spark.session import java

if TYPE_CHECKING:
    import asyncio

_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
_LAUNCHER = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp")
_ADD_MODULES = "--add-modules="
_WITH_SETTINGS = ("bash", "-c", '. "$SPARK_HOME/bin/load-spark-env.sh" && exec "$@"', "bash")
"""What runs a command with the variables of an installation's conf/spark-env.sh."""

_SECRET = re.compile(r"secret|password|token|access[._]?key|account\.key|credential|sas\.", re.I)
"""Parts of the names of settings with secrets: those of spark.redaction.regex, and of Hadoop's stores."""

GRACE = 15.0
"""Seconds after ctrl-C in which what is under way may end by itself, unless ctrl-C comes again. Then the JVM
is killed where it was started for this: it may wait for a store that does not answer."""

_POLL = 0.02  #: seconds between two looks whether the JVM answers

_starting: list[subprocess.Popen[bytes]] = []
_running: list[subprocess.Popen[bytes]] = []


class _Process(subprocess.Popen[bytes]):
    def __init__(self, *args: Any, **options: Any) -> None:
        _starting.append(self)  # first: ctrl-C may come after the fork, before the program runs
        super().__init__(*args, **options)


def start(settings: Collection[tuple[str, str]], log: Path) -> Any:
    """Start the JVM, and return PySpark's gateway to it, which has the process as `proc`.

    The JVM reads a pipe from this process, so that it ends together with it, even after kill -9. `abort` ends
    the start from another thread; one that fails leaves no process.

    settings: names and values of Spark's settings. log: the file for its output, in a folder of its own that
    nobody else can read.

    Raises RuntimeError when it ends before it answers, whose log says why; MissingDependency.
    """
    from pyspark.java_gateway import launch_gateway

    variables = _build_environment()
    try:
        answer = log.with_name("gateway")
        with log.open("ab") as output:
            command = _build_command(settings, variables, output)
            process = _Process(
                command,
                env=variables | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer)},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                process_group=0,  # away from the terminal's ctrl-C
                pass_fds=list_locks(log.parent),  # without its folder it would never end after a kill -9
            )
            while not answer.exists():
                if process.poll() is not None:
                    raise RuntimeError("the JVM ended before it answered")
                time.sleep(_POLL)
            port, secret = _parse_answer(answer.read_bytes())
        names = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
        os.environ.update(names)
        try:
            gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            for name in names:
                del os.environ[name]
        gateway.proc = process
        _running.append(process)
        return gateway
    except BaseException:
        abort()
        for started in _starting:
            if getattr(started, "pid", None):
                started.wait()
        raise
    finally:
        _starting.clear()


def abort() -> None:
    """Abort the start of the JVM, if it is starting, from any thread: `start` then fails at once.

    Call it until `start` has ended: it cannot kill a process that is just being forked.
    """
    for process in list(_starting):
        if getattr(process, "pid", None):
            process.kill()


def kill() -> None:
    """Kill the running JVM, from any thread: whatever waits for it fails at once."""
    for process in list(_running):
        process.kill()


async def wait_for_abandoned(work: "asyncio.Future[Any]") -> None:
    """Wait until work of another thread, which was told to end, has ended: for `GRACE` seconds, or until
    ctrl-C comes again. Then the JVM is killed, and before that one that is starting."""
    await enter_event_loop()
    import asyncio

    deadline = time.monotonic() + GRACE
    with handle_signals(kill, (signal.SIGINT,)):
        while not work.done():
            abort()
            if time.monotonic() >= deadline:
                kill()
            await asyncio.wait([work], timeout=THREAD_WAIT)


def end(gateway: Any, timeout: float) -> None:
    """End the JVM, and make PySpark forget it, so that a later session can start another one.

    timeout: seconds that it may take.
    """
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
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout)
    finally:  # also after ctrl-C
        process.kill()
        process.wait()
        _running.remove(process)


def _build_environment() -> dict[str, str]:
    """Return the JVM's environment variables. This Python is first on PATH, as its `python3`: executors on
    other machines are given the same name, which is their own Python."""
    home = java.find_spark_home()
    return {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": "2.13",  # the only one of Spark 4
        "SPARK_CONNECT_MODE": "0",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }


def _build_command(settings: Collection[tuple[str, str]], variables: dict[str, str], log: Any) -> list[str]:
    """Return the JVM's command line, as Spark's launcher builds it, without modules that this Java lacks.
    Raises RuntimeError, MissingDependency."""
    home, binary = Path(variables["SPARK_HOME"]), java.find_java().path
    conf_folder = Path(variables.get("SPARK_CONF_DIR") or home / "conf")
    prefix = _WITH_SETTINGS if (conf_folder / "spark-env.sh").exists() else ()
    # Any user of this machine can read a command line; secrets reach the JVM with the context's settings.
    public = [(name, value) for name, value in settings if not _SECRET.search(name)]
    conf = [word for name, value in public for word in ("--conf", f"{name}={value}")]
    application = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    launcher = [str(binary), *_LAUNCHER, str(home / "jars" / "*"), "org.apache.spark.launcher.Main"]
    words = [*prefix, *launcher, _SUBMIT, *conf, *application]
    process = _Process(words, env=variables, stdout=subprocess.PIPE, stderr=log, process_group=0)
    output, _ = process.communicate()
    _starting.remove(process)
    if process.returncode:
        raise RuntimeError("Spark's launcher failed")
    command = os.fsdecode(output).partition("\0\n")[2].split("\0")[:-1]
    if "-cp" in command:
        position = command.index("-cp") + 1
        command[position] = _list_class_path(command[position])
    modules = java.read_modules(binary)
    lacks = {word for word in command if word.startswith(_ADD_MODULES) and modules} - {
        _ADD_MODULES + module for module in modules
    }
    if lacks and dict(settings).get("spark.master", "").startswith("local-cluster"):
        # Spark itself starts the executors on this Java, with the same modules.
        raise MissingDependency(
            f"{binary} lacks a module that executors of a local cluster need",
            "install Java 17 or newer and point JAVA_HOME at it, or use --master 'local[*]'",
        )
    return [*prefix, *(word for word in command if word not in lacks)]


def _list_class_path(path: str) -> str:
    """Return a class path as its files and folders, each once and all there, which Java 21 needs to use an
    archive of classes."""
    names: list[Path] = []
    for name in path.split(os.pathsep):
        folder = Path(name)
        names += sorted(folder.parent.glob("*.jar")) if folder.name == "*" else [folder]
    return os.pathsep.join(dict.fromkeys(str(name) for name in names if name.exists()))


def _parse_answer(answer: bytes) -> tuple[int, str]:
    """Return the port and the secret that the JVM has written (PythonGatewayServer.scala)."""
    port, length = struct.unpack_from(">ii", answer)
    return port, answer[8 : 8 + length].decode()
