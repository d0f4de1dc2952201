"""The start of single servers, the wait until they accept clients, and why one ended before."""

import asyncio
import contextlib
import re
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jsctl.base.command_lines import build_line
from jsctl.base.files import read_text
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError, MissingDependency
from jsctl.localserver import folder, processes
from jsctl.localserver.processes import Process
from jsctl.localserver.state import NodeState

T = TypeVar("T")

START_SECONDS = 120
"""How long servers may take until they accept clients. A server first reads all of its data."""


_PORT = re.compile(r"listen tcp \S*?:(\d+): bind: (.*?)\"?$")
_STORE = re.compile(r"Can't start JetStream: (.*)")
_FATAL = re.compile(r"\[FTL\] (.*)|^nats-server: (.*)")


def launch(network_folder: Path, node: NodeState, environ: Mapping[str, str]) -> Process:
    """Start a server. Raises JsctlError."""
    program = node.argv[0]
    if not shutil.which(Path(node.cwd, program) if "/" in program else program, path=environ.get("PATH")):
        raise MissingDependency(
            f"{program}, which {node.name} was started with, no longer exists or cannot be run",
            f"{build_line('server stop', str(network_folder))} stops what still runs; start it again then",
        )
    log = folder.start_log(network_folder, node.name)
    return processes.start(network_folder, node.name, node.argv, Path(node.cwd), log, environ)


async def await_while_running(work: Coroutine[Any, Any, T], find_ended: Callable[[], Exception | None]) -> T:
    """Return the result of `work`. Raises the error that `find_ended` returns if a server ends
    first."""
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


def explain(name: str, status: int, log: Path, store: str = "") -> JsctlError:
    """Return the error for a server that ended before it was ready, with the reason in its log. status:
    negative for a signal."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    fatal = next(
        ((match[1] or match[2]).strip() for line in reversed(lines) if (match := _FATAL.search(line))), ""
    )
    where = f"its log is {log}"
    if port := _PORT.search(fatal):
        if "in use" in port[2]:
            return JsctlError(
                f"port {port[1]} is in use", "choose another one with --port, or any free one with --port 0"
            )
        return JsctlError(f"cannot listen on port {port[1]}: {port[2]}", "choose another one with --port")
    if (reason := _STORE.search(fatal)) and not reason[1].startswith("JetStream cluster"):
        return JsctlError(
            f"JetStream cannot use its store{f' {store}' if store else ''}: {reason[1]}",
            "choose another folder with --store",
        )
    if "Duplicate 'store_dir'" in fatal:
        return BadInput("the configuration has its own store_dir", "leave out --store")
    if fatal:
        return JsctlError(f"nats-server ({name}) does not start: {fatal}", where)
    # Mistakes in a command line are logged without a prefix.
    first = status and next((line.strip() for line in lines if line.strip() and "[INF]" not in line), "")
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return JsctlError(f"nats-server ({name}) {how}{f': {first}' if first else ''}", where)


def _explain_end(network_folder: Path, node: NodeState, process: Process) -> JsctlError | None:
    """Return why a server ended; None while it runs."""
    if process.is_running():
        return None
    return explain(node.name, process.status or 0, network_folder / f"{node.name}.log", str(network_folder))


async def wait_for_servers(network_folder: Path, started: Sequence[tuple[NodeState, Process]]) -> None:
    """Wait until servers accept clients. Raises JsctlError when one ends, or they take too long."""
    try:
        async with asyncio.timeout(START_SECONDS):
            for node, process in started:
                find_end = partial(_explain_end, network_folder, node, process)
                node.url = await await_while_running(read_url(network_folder, process.pid), find_end)
    except TimeoutError:
        raise JsctlError(
            f"the servers did not start within {START_SECONDS}s", f"their logs are in {network_folder}"
        ) from None


async def read_url(network_folder: Path, pid: int) -> str:
    """Return the URL in a server's ports file, which it writes when it accepts clients."""
    while True:
        for path in network_folder.glob(f"*_{pid}.ports"):
            try:
                urls = [str(url) for url in parse_json(read_text(path, regular=True))["nats"]]
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
