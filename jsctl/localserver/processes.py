"""The processes of a network. Each holds a lock on its own file in the network's folder.

The lock shows whether a process runs, whoever started it and however it ended; the file holds its number. A
second server on the store of a running one would overwrite its files (seen with nats-server 2.15.1): it
does not get the lock.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jsctl.base import posix
from jsctl.base.posix import open_private
from jsctl.contexts.environment import forget_secrets
from jsctl.errors import JsctlError

GRACE_SECONDS = 8.0
"""How long processes may take to stop until they are killed."""

_BIRTH_SECONDS = 60.0
"""How long a process that holds its lock may take to write its number, on a machine that is busy. It does so
even if the jsctl that started it is killed."""

_PAUSE_SECONDS = 0.005

_SUFFIX = ".lock"
# The shell writes its number before it becomes the process; if it cannot, it ends.
_EXEC = ("/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"')


@dataclass(slots=True)
class Process:
    """A process of a network, of this jsctl or of an earlier one."""

    folder: Path
    name: str
    pid: int
    child: subprocess.Popen[bytes] | None = None

    def is_running(self) -> bool:
        """Return whether the process runs."""
        if self.child is not None:
            return self.child.poll() is None
        return is_running(self.folder, self.name)

    @property
    def status(self) -> int | None:
        """The exit status of an ended process, negative for a signal; None when it is not known."""
        return None if self.child is None else self.child.poll()


def start(
    folder: Path, name: str, argv: Sequence[str], cwd: Path, log: Path, environ: Mapping[str, str]
) -> Process:
    """Start a process that outlives this one. Raises JsctlError, also when it runs already."""
    lock = folder / f"{name}{_SUFFIX}"
    inherited = dict(environ)
    forget_secrets(inherited)
    handle = open_private(lock, os.O_RDWR | os.O_CREAT)
    try:
        # `is_running` also holds the lock for a moment.
        while not take_lock(handle, _PAUSE_SECONDS):
            process = find(folder, name)
            if process or is_running(folder, name):
                owner = f" (process {process.pid})" if process else ""
                raise JsctlError(f"{name} in {folder} is already running{owner}")
        os.ftruncate(handle, 0)  # the number of an earlier process
        with open(log, "ab", opener=open_private) as output:
            try:
                child = subprocess.Popen(
                    [*_EXEC, str(lock), *argv],
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(handle,),
                    env=inherited,
                    umask=0o077,  # its store may hold accounts and their JWTs
                    start_new_session=True,  # ctrl-C on the terminal is for jsctl
                )
            except OSError as error:
                raise JsctlError(f"cannot start {argv[0]}: {error.strerror}") from None
        return Process(folder, name, child.pid, child)
    finally:
        os.close(handle)


def take_lock(handle: int, seconds: float) -> bool:
    """Lock an open file; return whether it was free, or became so within `seconds`."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(BlockingIOError):
            posix.lock(handle, wait=False)
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_SECONDS)


def is_running(folder: Path, name: str) -> bool:
    """Return whether a process of a network runs."""
    try:
        handle = os.open(folder / f"{name}{_SUFFIX}", os.O_RDWR | posix.CLOEXEC)
    except OSError:
        return False
    try:
        posix.lock(handle, wait=False, shared=True)  # shared: several may check at the same time
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def find(folder: Path, name: str) -> Process | None:
    """Return a running process; None when it is not running. Waits for the process ID of one that was just
    started."""
    end = time.monotonic() + _BIRTH_SECONDS
    while is_running(folder, name) and time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            return Process(folder, name, int((folder / f"{name}{_SUFFIX}").read_text()))
        time.sleep(_PAUSE_SECONDS)
    return None


def find_all(folder: Path) -> dict[str, Process]:
    """Return all running processes of a network, by name."""
    names = sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))
    running = {name: find(folder, name) for name in names}
    return {name: process for name, process in running.items() if process}


def send(process: Process, number: signal.Signals) -> None:
    """Send a signal to a process, if it still runs."""
    if process.is_running():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)


async def stop(processes: Sequence[Process]) -> None:
    """Stop processes, the last first, and wait until they have ended; by force after GRACE_SECONDS."""
    for process in reversed(processes):
        send(process, signal.SIGTERM)
        send(process, signal.SIGCONT)  # a paused process handles no signals
    if not await wait_until_ended(processes, GRACE_SECONDS):
        for process in processes:
            send(process, signal.SIGKILL)
        await wait_until_ended(processes, GRACE_SECONDS)


async def wait_until_ended(processes: Sequence[Process], seconds: float) -> bool:
    """Wait until all processes have ended. Returns whether they have."""
    try:
        async with asyncio.timeout(seconds):
            # The release of a lock sends no event.
            while any(process.is_running() for process in processes):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    except TimeoutError:
        return False
    return True
