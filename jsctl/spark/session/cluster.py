"""Spark on other machines: reach a master or Connect server, and notice when it goes away."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jsctl.errors import BadInput, JsctlError, MissingDependency, Unreachable
from jsctl.spark.session.task_progress import cancel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PORTS = {"spark": 7077, "sc": 15002}
_CONNECT = 3  #: seconds for a TCP connection
_PATIENCE = 60
"""Seconds that jobs wait for a first executor, or for another one when all are gone. Where a cluster has a
queue (YARN, Kubernetes) they wait as long as it takes."""


def is_local(master: str) -> bool:
    """Whether Spark runs in this process's own JVM alone. `local-cluster` has executors of its own."""
    return not master or re.fullmatch(r"local(\[.*\])?", master) is not None


def runs_elsewhere(spark: "SparkSession") -> bool:
    """Whether a session's tasks may be on other machines."""
    context: Any = getattr(spark, "_sc", None)
    return context is None or not context._jsc.sc().isLocal()


def public(url: str) -> str:
    """A URL of Spark without what may be secret in it (sc://host:port/;token=...)."""
    return re.sub(r"^([\w-]+://)(?:[^/@]*@)?([^/;]*).*$", r"\1\2", url)


def reach(url: str) -> str:
    """The address of this machine from which a master or Connect server is reached; empty for a URL that
    names no host. Raises Unreachable when nobody listens, BadInput."""
    kind = url.partition("://")[0]
    if kind not in _PORTS:
        return ""
    for address in public(url).removeprefix(f"{kind}://").split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname, parts.port or _PORTS[kind]
        except ValueError:
            host = None
        if not host:
            raise BadInput(f"{public(url)} is no address of Spark", f"such as {kind}://host:{_PORTS[kind]}")
        with contextlib.suppress(OSError), socket.create_connection((host, port), _CONNECT) as probe:
            return str(probe.getsockname()[0])
    what, flag = ("Spark master", "--master") if kind == "spark" else ("Spark Connect server", "--remote")
    raise Unreachable(
        f"no {what} answers at {public(url)}",
        f"is the address right? {flag} {kind}://host:{_PORTS[kind]}",
    )


def answers(url: str) -> bool:
    """Whether `reach` finds somebody."""
    try:
        reach(url)
    except Unreachable:
        return False
    return True


@contextlib.contextmanager
def watched(spark: "SparkSession", url: str) -> Iterator[None]:
    """Raise Unreachable when the block fails because Spark went away, and make it fail when its jobs would
    wait for ever."""
    lost: list[str] = []
    ended = threading.Event()
    context: Any = getattr(spark, "_sc", None)
    thread = threading.Thread(target=_watch, args=(spark, context, url, ended, lost.append), daemon=True)
    if context is not None:
        thread.start()
    try:
        yield
    except Exception as error:
        if isinstance(error, MissingDependency):
            raise
        if lost:
            raise Unreachable(lost[0]) from None
        if context is None and not answers(url):
            raise Unreachable(f"the Spark Connect server at {public(url)} went away") from None
        if context is not None and _is_stopped(context):
            raise Unreachable(
                f"Spark at {public(url)} ended this application", "the logs of its master and workers say why"
            ) from None
        raise
    finally:
        ended.set()
        if context is not None:
            thread.join(5)


def _watch(
    spark: "SparkSession", context: Any, url: str, ended: threading.Event, lose: Callable[[str], None]
) -> None:
    since = time.monotonic()
    with contextlib.suppress(Exception):  # the JVM may be gone; whoever runs the job says so
        tracker = context._jsc.sc().statusTracker()
        while not ended.wait(1):
            now = time.monotonic()
            # The driver is among them.
            if len(tracker.getExecutorInfos()) > 1 or not len(tracker.getActiveJobIds()):
                since = now
                continue
            gone = now - since > 3 and not answers(url)
            if gone or (now - since > _PATIENCE and url.startswith(("spark:", "local"))):
                lose(
                    f"the Spark master at {public(url)} went away, and its executors with it"
                    if gone
                    else f"Spark at {public(url)} gives no executor: are there workers with a free core and"
                    " enough memory?"
                )
                while not ended.wait(0.5):
                    cancel(spark)


def _is_stopped(context: Any) -> bool:
    try:
        return bool(context._jsc.sc().isStopped())
    except Exception:  # the JVM is gone
        return True


def missing(text: str) -> JsctlError | None:
    """What an executor lacks, from the text of a failure; None when it is something else."""
    hint = "PYSPARK_PYTHON names the Python of the executors"
    if found := re.search(r"has different version: (\d+\.\d+) than that in driver: (\d+\.\d+)", text):
        return MissingDependency(f"the executors have Python {found[1]}, this machine has {found[2]}", hint)
    if re.search(r"(PACKAGE_NOT_INSTALLED\] PyArrow|No module named '?pyarrow)", text):
        return MissingDependency("the executors have no pyarrow", f"install it there; {hint}")
    if found := re.search(r'Cannot run program "([^"]+)"', text):
        return MissingDependency(f"the executors have no Python at {found[1]}", hint)
    return None
