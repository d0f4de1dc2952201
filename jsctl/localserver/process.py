"""Modules of jsctl as processes, and the guard process as jsctl uses it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsctl
from jsctl.base.files import list_locks
from jsctl.contexts.environment import forget_secrets

_RUN = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1));"
    " runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def build_module_command(module: str, *args: str) -> list[str]:
    """Return the command line that runs a module of jsctl, whatever is in the current folder."""
    root = str(Path(jsctl.__file__).parents[1])
    return [sys.executable, "-P", "-c", _RUN, root, module, *args]


class Guard:
    """The guard of a network. Create it with `open`, and call `close` or `leave`."""

    def __init__(self, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter) -> None:
        self._process = process
        self._stdin = stdin

    @classmethod
    async def open(cls, folder: Path, environ: Mapping[str, str]) -> "Guard":
        """Start a guard of the network in a folder."""
        inherited = dict(environ)
        forget_secrets(inherited)
        process = await asyncio.create_subprocess_exec(
            *build_module_command("jsctl.localserver.guard", str(folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=inherited,
            start_new_session=True,  # ctrl-C on the terminal is for jsctl, which then stops the servers
            pass_fds=list_locks(folder),  # a temporary folder stays until the servers have stopped
        )
        if process.stdin is None:
            raise RuntimeError("the guard has no pipe")
        return cls(process, process.stdin)

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.returncode is None

    def forget(self, contexts: Sequence[str]) -> None:
        """Let the guard remove these contexts when the servers stop for any reason."""
        self._stdin.writelines(f"{name}\n".encode() for name in contexts)

    async def leave(self) -> None:
        """End the guard, and keep the servers running."""
        self._stdin.write(b"leave\n")
        await self.close()

    async def close(self) -> None:
        """End the guard, which stops the servers, unless it was told to leave."""
        self._stdin.close()
        await self._process.wait()
