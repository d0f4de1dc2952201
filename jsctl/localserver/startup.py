"""Starts single servers, and waits until they accept clients."""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jsctl.errors import BadInput, JsctlError, MissingDependency
from jsctl.files import read_text
from jsctl.json_text import parse_json
from jsctl.localserver import folder, processes
from jsctl.localserver.failure import explain
from jsctl.localserver.processes import Process
from jsctl.localserver.state import NodeState

T = TypeVar("T")

START_SECONDS = 120
"""How long servers may take until they accept clients. A server first reads all of its data."""


def launch(where: Path, node: NodeState, environ: Mapping[str, str]) -> Process:
    """Start a server. Raises JsctlError."""
    program = node.argv[0]
    if not shutil.which(Path(node.cwd, program) if "/" in program else program, path=environ.get("PATH")):
        raise MissingDependency(
            f"{program}, which {node.name} was started with, no longer exists or cannot be run",
            f"stop {where} with jsctl server stop, and start it again with jsctl server network up",
        )
    log = folder.start_log(where, node.name)
    return processes.start(where, node.name, node.argv, Path(node.cwd), log, environ)


async def await_while_running(work: Coroutine[Any, Any, T], find_ended: Callable[[], Exception | None]) -> T:
    """Return the result of `work`. Raises the error that `find_ended` returns when a server ends before
    that."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait([task], timeout=0.02)
            if not task.done() and (error := find_ended()):
                raise error
        return await task
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def _explain_end(where: Path, node: NodeState, process: Process) -> JsctlError | None:
    """Return why a server ended; None while it runs."""
    if process.running():
        return None
    return explain(node.name, process.status or 0, where / f"{node.name}.log", str(where))


async def wait_for_servers(where: Path, started: Sequence[tuple[NodeState, Process]]) -> None:
    """Wait until servers accept clients. Raises JsctlError when one ends, or none does so in time."""
    try:
        async with asyncio.timeout(START_SECONDS):
            for node, process in started:
                ended = partial(_explain_end, where, node, process)
                node.url = await await_while_running(read_url(where, process.pid), ended)
    except TimeoutError:
        raise JsctlError(
            f"the servers did not start within {START_SECONDS}s", f"their logs are in {where}"
        ) from None


async def read_url(where: Path, pid: int) -> str:
    """Return the URL in a server's ports file, which it writes when it accepts clients."""
    while True:
        for path in where.glob(f"*_{pid}.ports"):
            try:
                urls = [str(url) for url in parse_json(read_text(path))["nats"]]
            except (BadInput, ValueError, KeyError, TypeError):
                continue  # the server is writing it
            local = [url for url in urls if "//127.0.0.1:" in url]
            if urls:
                return (local or urls)[0]
        await asyncio.sleep(0.01)


async def read_info(url: str) -> Mapping[str, Any]:
    """Return the INFO of a server; empty for one that starts with TLS."""
    host, _, port = url.rpartition("//")[2].rpartition(":")
    while True:
        try:
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), limit=1 << 20)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        try:
            async with asyncio.timeout(2):
                line = await reader.readline()
            info = parse_json(line.removeprefix(b"INFO "))
            return info if isinstance(info, dict) else {}
        except (TimeoutError, ValueError, OSError):
            return {}
        finally:
            writer.close()
