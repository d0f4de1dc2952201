"""The guard process as jsctl uses it: sends orders, receives events."""

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
from jsctl.contexts.environment import forget_secrets
from jsctl.errors import JsctlError

_RUN = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1));"
    " runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def module_command(module: str, *args: str) -> list[str]:
    """Return the command line that runs a module of jsctl, whatever is in the current folder."""
    root = str(Path(jsctl.__file__).parents[1])
    return [sys.executable, "-P", "-c", _RUN, root, module, *args]


class Guarded:
    """Servers under a guard process. Create it with `open`, and call `close` in every case but `leave`."""

    def __init__(
        self, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader
    ) -> None:
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._started: dict[str, asyncio.Future[int]] = {}
        self._ended: dict[str, asyncio.Future[int]] = {}
        self._pids: dict[str, int] = {}
        self.stopping = False  #: whether the guard received SIGTERM
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, lock: int, folder: Path, environ: Mapping[str, str]) -> "Guarded":
        """Start a guard. lock: a descriptor of the lock on `folder`, which guard and servers inherit."""
        inherited = dict(environ)
        forget_secrets(inherited)
        process = await asyncio.create_subprocess_exec(
            *module_command("jsctl.localserver.guard", str(lock), str(folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=(lock,),
            env=inherited,
            start_new_session=True,  # ctrl-C on the terminal is for jsctl, which then stops the servers
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the guard has no pipes")
        return cls(process, process.stdin, process.stdout)

    @property
    def pid(self) -> int:
        """The process number of the guard."""
        return self._process.pid

    async def start(self, name: str, argv: Sequence[str], cwd: Path, log: Path) -> int:
        """Start a server. Returns its process number. Raises JsctlError."""
        loop = asyncio.get_running_loop()
        self._started[name] = loop.create_future()
        self._ended[name] = loop.create_future()
        self._order(do="start", name=name, argv=list(argv), cwd=str(cwd), log=str(log))
        return await self._started[name]

    def ended(self, name: str) -> "asyncio.Future[int]":
        """Return a future of the exit status of a server."""
        return self._ended[name]

    def forget(self, contexts: Sequence[str], folder: Path) -> None:
        """Let the guard remove contexts when the servers stop, for whatever reason."""
        self._order(do="forget", contexts=list(contexts), folder=str(folder))

    async def leave(self) -> None:
        """Let the servers continue without this process. SIGTERM to the guard stops them."""
        self._order(do="keep")
        await self._stdin.drain()
        self._stdin.close()
        self._reader.cancel()

    async def close(self) -> None:
        """Stop the servers, and wait until all have ended."""
        self._stdin.close()
        await self._process.wait()
        await self._reader

    def _order(self, **order: Any) -> None:
        self._stdin.write((json.dumps(order) + "\n").encode())

    async def _read(self) -> None:
        async for line in self._stdout:
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
        # The guard has ended. Servers that it did not stop, because it was killed, are stopped here.
        for pid in self._pids.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for future in (*self._started.values(), *self._ended.values()):
            _settle(future, -signal.SIGKILL)


def _settle(future: "asyncio.Future[int]", outcome: int | JsctlError) -> None:
    if future.done():  # cancelled: nobody waits any longer
        return
    if isinstance(outcome, JsctlError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
