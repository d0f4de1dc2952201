"""The guard as this process sees it: orders go out, events come back."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsctl
from jsctl.errors import JsctlError

_RUN = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1));"
    " runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def own(module: str, *args: str) -> list[str]:
    """The command line that runs a module of jsctl as `__main__`, whatever lies in the current folder."""
    root = str(Path(jsctl.__file__).parents[1])
    return [sys.executable, "-P", "-c", _RUN, root, module, *args]


class Guarded:
    """Servers under a guard process. Use `open`, and `close` in every case."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._started: dict[str, asyncio.Future[int]] = {}
        self._ended: dict[str, asyncio.Future[int]] = {}
        self._pids: dict[str, int] = {}
        self.stopping = False  #: somebody asked the guard to stop
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, lock: int, folder: Path, environ: Mapping[str, str]) -> "Guarded":
        """lock: a descriptor that guard and servers shall hold, of the lock on `folder`."""
        process = await asyncio.create_subprocess_exec(
            *own("jsctl.localserver.guard", str(lock), str(folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=(lock,),
            env=dict(environ),
            start_new_session=True,  # ctrl-C on the terminal is for jsctl, which then stops the servers
        )
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(self, name: str, argv: Sequence[str], cwd: Path, log: Path) -> int:
        """Start a server; returns its process number. Raises JsctlError."""
        loop = asyncio.get_running_loop()
        self._started[name] = loop.create_future()
        self._ended[name] = loop.create_future()
        self._order(do="start", name=name, argv=list(argv), cwd=str(cwd), log=str(log))
        return await self._started[name]

    def ended(self, name: str) -> "asyncio.Future[int]":
        """Done when a server has ended, with its exit status."""
        return self._ended[name]

    def forget(self, contexts: Sequence[str], folder: Path) -> None:
        """Have these contexts removed when the servers stop, however that comes."""
        self._order(do="forget", contexts=list(contexts), folder=str(folder))

    async def leave(self) -> None:
        """Let the servers go on without this process; SIGTERM to the guard stops them."""
        self._order(do="keep")
        assert self._process.stdin is not None
        await self._process.stdin.drain()
        self._process.stdin.close()
        self._reader.cancel()

    async def close(self) -> None:
        """Stop the servers; returns when all have ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reader

    def _order(self, **order: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps(order) + "\n").encode())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            event = json.loads(line)
            name = event.get("name", "")
            if event["event"] == "stopping":
                self.stopping = True
            elif event["event"] == "started":
                self._pids[name] = event["pid"]
                _settle(self._started[name], event["pid"])
            elif event["event"] == "failed":
                _settle(self._started[name], JsctlError(f"cannot start nats-server: {event['reason']}"))
            elif event["event"] == "ended":
                self._pids.pop(name, None)
                _settle(self._ended[name], event["status"])
        # The guard has ended. What it did not stop has nobody else now: it was killed.
        for pid in self._pids.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for future in (*self._started.values(), *self._ended.values()):
            _settle(future, -signal.SIGKILL)


def _settle(future: "asyncio.Future[int]", outcome: int | JsctlError) -> None:
    if future.done():  # cancelled: whoever waited has gone
        return
    if isinstance(outcome, JsctlError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
