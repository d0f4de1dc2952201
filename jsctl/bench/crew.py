"""A complete benchmark, whose clients run in this process or in several processes, one for each core."""

import asyncio
import base64
import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jsctl.base.signals import Stopped
from jsctl.base.units import SECOND
from jsctl.bench.meter import Outcome, ProcessResult, now
from jsctl.bench.plan import Plan
from jsctl.bench.team import Team
from jsctl.contexts.settings import Settings
from jsctl.errors import ExitStatus, JsctlError

_MAX_LINE_BYTES = 1 << 26
"""Maximum number of bytes of a line from a worker."""
_GRACE_SECONDS = 3
"""Seconds that a worker has to end after its stdin is closed or it is stopped."""


SILENT_SECONDS = 20
"""Seconds without a heartbeat after which a worker counts as paused. It is long, as benchmarks overload
machines."""

_PROC = Path("/proc")
_LISTENING = "0A"
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")


class WorkerFailure(JsctlError):
    """A client in another process failed."""

    def __init__(self, message: str, hint: str, status: int) -> None:
        super().__init__(message, hint)
        self.status = ExitStatus(status)


def count_processes(clients: int) -> int:
    """Return how many processes share these clients; 0 for this process only."""
    return min(clients, os.cpu_count() or 1) if clients > 1 else 0


class Bench:
    """One benchmark: `run` it once; `stop` ends it early and keeps what was measured.

    advance: called with each number of messages that were sent or received. started: called when the clients
    start.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        url: str,
        *,
        advance: Callable[[int], None] = lambda count: None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self._plan = plan
        self._settings = settings
        self._server = find_server(url)
        self._server_before = (0, 0)
        self._advance = advance
        self._on_started = started
        self._stop: Callable[[], None] = lambda: None
        self._is_stopped = False

    def stop(self) -> None:
        """End as soon as possible."""
        self._is_stopped = True
        self._stop()

    async def run(self) -> tuple[Outcome, JsctlError | None]:
        """Return what was measured, and the first error of a client."""
        if self._plan.processes:
            processes, failure = await self._run_workers()
        else:
            processes, failure = await self._run_here()
        outcome = Outcome(processes, stopped=self._is_stopped)
        outcome.notes = list(dict.fromkeys(note for process in processes for note in process.notes))
        self._add_server_cpu(outcome)
        return outcome, failure

    def _start(self) -> None:
        if self._server:
            self._server_before = self._server.cpu, now()
        self._on_started()

    def _add_server_cpu(self, outcome: Outcome) -> None:
        server, (cpu, at) = self._server, self._server_before
        if server and at and (used := server.cpu - cpu) >= 0 and outcome.duration:
            outcome.server_cpu = used / max(now() - at, outcome.duration)

    async def _run_here(self) -> tuple[list[ProcessResult], JsctlError | None]:
        plan = self._plan

        def start_team() -> None:
            self._start()
            team.start_clients()

        team = Team(plan, self._settings, range(plan.clients), on_ready=start_team, advance=self._advance)
        self._stop = team.stop
        if self._is_stopped:
            team.stop()
        result, failure = await team.run()
        return [result], failure

    async def _run_workers(self) -> tuple[list[ProcessResult], JsctlError | None]:
        workers: list[_Worker] = []

        def stop() -> None:
            for worker in workers:
                worker.send_command("stop")
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, kill)

        def kill() -> None:
            for worker in workers:
                if worker.result is None:
                    worker.kill()

        self._stop = stop
        failure: JsctlError | None = None
        try:
            for numbers in self._plan.iterate_teams():
                workers.append(await _Worker.start(self._plan, self._settings, numbers))
            if self._is_stopped:
                stop()
            for worker in workers:
                await worker.wait_until_ready()
            self._start()
            for worker in workers:
                worker.send_command("go")
            collecting = [asyncio.ensure_future(worker.collect(self._advance)) for worker in workers]
            try:
                for task in asyncio.as_completed(collecting):
                    if (error := await task) is not None and failure is None:
                        failure = error
                        stop()
            finally:
                for future in collecting:
                    future.cancel()
        finally:
            for worker in workers:
                await worker.end()
        return [worker.result for worker in workers if worker.result], failure


class _Worker:
    """A process with some of the clients (`jsctl.bench.worker`). Each message to and from it is a line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("a process of the benchmark has no pipes")
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._errors = asyncio.ensure_future(process.stderr.read())
        self._is_killed = False
        self.result: ProcessResult | None = None
        self._failure: JsctlError | None = None

    @classmethod
    async def start(cls, plan: Plan, settings: Settings, numbers: list[int]) -> "_Worker":
        """Start a process."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "jsctl.bench.worker",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            limit=_MAX_LINE_BYTES,
            start_new_session=True,  # only this process handles ctrl-C, and stops the workers
        )
        worker = cls(process)
        # On stdin, not in the arguments, which other users could see: settings contain secrets.
        worker._write(base64.b64encode(pickle.dumps((plan, settings, numbers))))
        return worker

    def _write(self, line: bytes) -> None:
        if not self._stdin.is_closing():
            with contextlib.suppress(OSError):
                self._stdin.write(line + b"\n")

    def send_command(self, word: str) -> None:
        """Send `go` or `stop`."""
        self._write(word.encode())

    async def _receive(self) -> tuple[str, Any]:
        line = await self._read_line()
        if not line:
            await self._raise_end()
        name, _, payload = line.rstrip(b"\n").partition(b" ")
        return name.decode(), payload

    async def _read_line(self) -> bytes:
        """Return a line. Raises JsctlError when none arrives for SILENT_SECONDS, in which this process
        itself was not paused."""
        reading = asyncio.ensure_future(self._stdout.readline())
        try:
            for _ in range(SILENT_SECONDS):
                await asyncio.wait([reading], timeout=1)
                if reading.done():
                    return reading.result()
        finally:
            reading.cancel()
        self.kill()
        raise JsctlError(
            f"process {self._process.pid} of the benchmark has not responded for {SILENT_SECONDS}s",
            "it is paused, or this machine is overloaded",
        )

    async def _raise_end(self) -> None:
        errors = await self._errors
        if self._is_killed:
            raise Stopped("stopped; a process of the benchmark hung and was killed")
        last = errors[-4096:].decode(errors="replace").strip().rpartition("\n")[2]
        raise JsctlError(f"a process of the benchmark ended: {last or 'without a reason'}")

    async def wait_until_ready(self) -> None:
        """Wait until its clients are prepared. Raises their error."""
        name = "alive"
        while name == "alive":
            name, rest = await self._receive()
        if name == "result":
            self._store_result(rest)
            if self._failure:
                raise self._failure

    async def collect(self, advance: Callable[[int], None]) -> JsctlError | None:
        """Wait for the results; return the error of a client, or why the process has none."""
        try:
            while self.result is None:
                name, payload = await self._receive()
                if name == "done":
                    advance(int(payload))
                elif name == "result":
                    self._store_result(payload)
        except JsctlError as error:
            return error
        return self._failure

    def _store_result(self, payload: bytes) -> None:
        self.result, failure = pickle.loads(base64.b64decode(payload))
        self._failure = WorkerFailure(*failure) if failure else None

    async def end(self) -> None:
        """End the process, whatever it is doing, and wait for it."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        self._errors.cancel()

    def kill(self) -> None:
        """End the process at once."""
        self._is_killed = True
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


class ServerProcess:
    """The process of a server on this machine, as far as the system shows it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    @property
    def cpu(self) -> int:
        """The processor time taken so far in ns; 0 once the process has ended."""
        try:
            fields = (_PROC / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) * SECOND // os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0


def find_server(url: str) -> ServerProcess | None:
    """Return the process that listens at a URL; None on another machine, for another user's process, and when
    the system does not show it."""
    parts = urlsplit(url if "//" in url else f"nats://{url}")
    if not (parts.hostname or "").startswith(_LOOPBACK):
        return None
    try:
        sockets = _list_sockets(parts.port or 4222)
        return _find_owner(sockets) if sockets else None
    except (OSError, ValueError):
        return None


def _list_sockets(port: int) -> set[str]:
    """Return the links of the descriptors of the listening sockets."""
    sockets = set()
    for table in ("tcp", "tcp6"):
        path = _PROC / "net" / table
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            words = line.split()
            if words[3] == _LISTENING and int(words[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{words[9]}]")
    return sockets


def _find_owner(sockets: set[str]) -> ServerProcess | None:
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            links = [str(entry.readlink()) for entry in (folder / "fd").iterdir()]
        except OSError:
            continue  # another user's, or already ended
        if sockets.intersection(links):
            return ServerProcess(int(folder.name))
    return None
