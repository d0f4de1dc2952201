"""Spark on other machines, as near as one machine comes to it: a standalone master with a worker, and a
Connect server, from the classes of the PySpark package, with a Python that has no jsctl. Stopped by pid."""

import os
import re
import subprocess
import sys
import sysconfig
import time
import venv
from importlib.util import find_spec
from pathlib import Path

import pyspark

from tests.support import spark_home
from tests.support.servers import free_port


def home() -> Path:
    """Return Spark's folder."""
    return Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])


NEEDED = ("pyarrow",)
"""What an executor's Python must have; PySpark comes with Spark."""


def bare_python(folder: Path, packages: tuple[str, ...] = NEEDED) -> Path:
    """Create a Python environment of this version, with these packages of ours and no others; return its
    Python."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python3"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    ours, theirs = Path(sysconfig.get_path("platlib")), folder / "lib" / version / "site-packages"
    for package in packages:
        if (ours / package).exists():
            (theirs / package).symlink_to(ours / package)
    return python


class Cluster:
    """`master` and `remote` are its URLs. Python is the one that workers and the Connect server start."""

    def __init__(self, folder: Path, python: Path) -> None:
        spark_home.require_whole_java()
        self.folder = folder
        self.python = python
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.master = f"spark://127.0.0.1:{free_port()}"
        self.remote = f"sc://127.0.0.1:{free_port()}"

    def start_worker(self) -> "Cluster":
        """Start the master, and a worker of one core and 1 GiB."""
        port = self.master.rpartition(":")[2]
        flags = ["--host", "127.0.0.1", "--port", port, "--webui-port", str(free_port())]
        self._start("master", "org.apache.spark.deploy.master.Master", *flags)
        flags = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(free_port())]
        flags += ["--work-dir", str(self.folder / "work"), self.master]
        self._start("worker", "org.apache.spark.deploy.worker.Worker", *flags)
        self.wait("master", "Registering worker ")
        return self

    def start_connect(self) -> "Cluster":
        """Start a Connect server with two cores."""
        settings = {
            "spark.connect.grpc.binding.port": self.remote.rpartition(":")[2],
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.master": "local[2]",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",  # what Spark's pages would show
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.sql.artifact.isolation.enabled": "true",
        }
        (self.folder / "events").mkdir(exist_ok=True)
        flags = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
        flags += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        self._start("connect", "org.apache.spark.deploy.SparkSubmit", *flags)
        self.wait("connect", "Spark Connect server started")
        return self

    def log(self, name: str) -> str:
        """Return the log of a process."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait(self, name: str, pattern: str, seconds: float = 60) -> None:
        """Wait until a process logs a pattern. Raises AssertionError with its log."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.log(name)):
            running = self.processes[name].poll() is None
            assert running and time.monotonic() < deadline, f"{name} did not start:\n{self.log(name)}"
            time.sleep(0.05)

    def kill(self, name: str) -> None:
        """Kill a process (SIGKILL)."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def _start(self, name: str, java_class: str, *args: str) -> None:
        saved = ("HOME", "JAVA_HOME", "LANG", "TMPDIR")
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        quick = os.environ.get("SPARK_SUBMIT_OPTS", spark_home.QUICK)
        environment = {name: os.environ[name] for name in saved if name in os.environ} | {
            "PATH": path,
            "SPARK_HOME": str(home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "1g" if name == "connect" else "256m",
            "SPARK_DAEMON_JAVA_OPTS": quick,
            "SPARK_SUBMIT_OPTS": quick,
            "JDK_JAVA_OPTIONS": quick,  # what workers start, too
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(home() / "bin" / "spark-class"), java_class, *args],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
            )


def without_jsctl(python: Path) -> bool:
    """Return whether a Python has neither jsctl nor its dependencies."""
    names = ("jsctl", "nats", "nkeys", "nacl", "click")
    probe = f"from importlib.util import find_spec as f; print(*map(f, {names}))"
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True, cwd="/")
    assert find_spec("jsctl")
    return done.stdout.split() == ["None"] * len(names)


SCRIPT = """
import contextlib, json, sys
sys.path.append(sys.argv[1])  # not in the environment, which executors may share
from pathlib import Path
from jsctl.spark.session.session import FAST_START_CONF, open_session
from tests.support.run import Cli
request = json.load(sys.stdin)
cli = Cli(Path(request["home"]))
master, conf = request["master"], {**FAST_START_CONF, **request["conf"]}
with open_session(master, conf=conf) if master else contextlib.nullcontext():
    for line in request["lines"]:
        done = cli(line)
        print(json.dumps([done.status, done.out, done.err]), flush=True)
"""
"""Lines of jsctl in one process: what a session costs is paid once."""
