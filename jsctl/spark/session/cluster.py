"""Spark on other machines: reaching a master or Connect server, and noticing when it goes away."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jsctl.contexts.model import strip_login
from jsctl.errors import BadInput, MissingDependency, Unreachable
from jsctl.spark.session.task_progress import cancel_jobs, find_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DEFAULT_PORTS = {"spark": 7077, "sc": 15002}
_CONNECT_TIMEOUT = 3  #: seconds for a TCP connection
_EXECUTOR_TIMEOUT = 60
"""Seconds that jobs wait for a first executor, or for another one when all have ended. On a cluster with a
queue (YARN, Kubernetes) they wait without a limit."""


def is_local(master: str) -> bool:
    """Return whether Spark runs only in this process's JVM. `local-cluster` starts separate executors."""
    return not master or re.fullmatch(r"local(\[.*\])?", master) is not None


def runs_elsewhere(spark: "SparkSession") -> bool:
    """Return whether a session's tasks may be on other machines."""
    context = find_context(spark)
    return context is None or not is_local(context.master)


def find_local_address(url: str) -> str:
    """Return the address of this machine from which it reaches a master or Connect server; empty for other
    URLs. Raises Unreachable when no server listens there, BadInput."""
    kind = url.partition("://")[0]
    if kind not in _DEFAULT_PORTS:
        return ""
    for address in url.removeprefix(f"{kind}://").split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname, parts.port or _DEFAULT_PORTS[kind]
        except ValueError:
            host = None
        if not host:
            raise BadInput(
                f"{strip_login(url)} is not a valid address of Spark",
                f"use one such as {kind}://host:{_DEFAULT_PORTS[kind]}",
            )
        with contextlib.suppress(OSError), socket.create_connection((host, port), _CONNECT_TIMEOUT) as probe:
            return str(probe.getsockname()[0])
    server, flag = ("Spark master", "--master") if kind == "spark" else ("Spark Connect server", "--remote")
    raise Unreachable(
        f"no {server} answers at {strip_login(url)}",
        f"check the address: {flag} {kind}://host:{_DEFAULT_PORTS[kind]}",
    )


def is_reachable(url: str) -> bool:
    """Return whether a server listens at a URL."""
    try:
        find_local_address(url)
    except Unreachable:
        return False
    return True


@contextlib.contextmanager
def watch_connection(spark: "SparkSession", url: str) -> Iterator[None]:
    """Raise Unreachable when the block fails because Spark went away; cancel jobs that would wait for
    ever."""
    losses: list[str] = []
    has_ended = threading.Event()
    context = find_context(spark)
    # The JVM's own, which knows its executors and whether it was stopped.
    context = context and context._jvm.org.apache.spark.SparkContext.getOrCreate()
    thread = threading.Thread(
        target=_watch, args=(spark, context, url, has_ended, losses.append), daemon=True
    )
    if context is not None:
        thread.start()
    try:
        yield
    except Exception as error:
        if isinstance(error, MissingDependency):
            raise
        if losses:
            raise Unreachable(losses[0]) from None
        if context is None and not is_reachable(url):
            raise Unreachable(f"the Spark Connect server at {strip_login(url)} went away") from None
        if context is not None and _is_stopped(context):
            raise Unreachable(
                f"Spark at {strip_login(url)} ended this application",
                "the logs of its master and workers say why",
            ) from None
        raise
    finally:
        has_ended.set()
        if context is not None:
            thread.join(5)


def _watch(
    spark: "SparkSession",
    context: Any,
    url: str,
    has_ended: threading.Event,
    report_loss: Callable[[str], None],
) -> None:
    last_good = time.monotonic()
    with contextlib.suppress(Exception):  # the JVM may have ended, which the failing job reports
        tracker = context.statusTracker()
        while not has_ended.wait(1):
            now = time.monotonic()
            # One of them is the driver.
            if len(tracker.getExecutorInfos()) > 1 or not len(tracker.getActiveJobIds()):
                last_good = now
                continue
            is_gone = now - last_good > 3 and not is_reachable(url)
            if is_gone or (now - last_good > _EXECUTOR_TIMEOUT and url.startswith(("spark:", "local"))):
                report_loss(
                    f"the Spark master at {strip_login(url)} went away, and its executors with it"
                    if is_gone
                    else f"Spark at {strip_login(url)} gives no executor: check that workers have a"
                    " free core and enough memory"
                )
                while not has_ended.wait(0.5):
                    cancel_jobs(spark)


def _is_stopped(context: Any) -> bool:
    try:
        return bool(context.isStopped())
    except Exception:  # the JVM is gone
        return True
