"""The agent: a process that has imported jsctl, and forks for each call (see client.py).

It lives as long as what asked for it: `python -m jsctl.agent.server FOLDER` until its stdin ends, or with a
second argument until the process ends whose id is written to that file. It then removes its folder, and ends
with the last of the calls that run in it. What a call imports, the agent imports, too, so that the next one
of its kind finds it; nothing else goes from one call to the next.
"""

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jsctl import __version__
from jsctl.agent import worker
from jsctl.agent.client import MAX_FILES, list_conditions
from jsctl.agent.worker import Request
from jsctl.base import ending
from jsctl.commands.agent.folder import PROCESS, SOCKET

_RIGHTS = ("Uid:", "Gid:", "Groups:", "SigBlk:", "Cap", "NoNewPrivs:", "Seccomp:")
"""How the lines of /proc/ID/status begin that say what a process may do."""

_REQUEST_TIMEOUT = 2  #: seconds for a call to say what it is
_SHELL_TIMEOUT = 10  #: seconds for the shell to write its process id
_BEGINS_LOOP = "asyncio"
"""What a verb that begins in an event loop has imported (see jsctl.base.loops). It is never imported here, as
all other verbs would begin in one, too."""


@dataclass(slots=True)
class _Call:
    """A call that runs. imported: what its process has imported, as far as it has said."""

    client: socket.socket
    process: int
    imports: int  #: a file to read their names from


class Agent:
    """What serves the calls that come to a listening socket."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._conditions = [__version__, *list_conditions()]
        self._rights = _list_rights(os.getpid())
        self._calls: dict[int, _Call] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self, asker: int) -> worker.Call | None:
        """Serve calls until the file `asker` ends, then until the last call has ended. Return, in a process
        that is forked for a call, what it is to run."""
        wakeup, signals = socket.socketpair()
        for end in (wakeup, signals):
            end.setblocking(False)
        signal.set_wakeup_fd(signals.fileno())
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda number, frame: None)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(wakeup, selectors.EVENT_READ, lambda: self._reap(wakeup, asker))
        self._selector.register(asker, selectors.EVENT_READ, lambda: self._close(asker))
        while self._calls or self._listener.fileno() >= 0:
            for key, _ in self._selector.select():
                if forked := key.data():
                    return forked  # type: ignore[no-any-return]
        return None

    def _close(self, asker: int) -> None:
        self._selector.unregister(asker)
        self._selector.unregister(self._listener)
        folder = Path(self._listener.getsockname()).parent
        self._listener.close()
        shutil.rmtree(folder, ignore_errors=True)

    def _accept(self) -> worker.Call | None:
        try:
            client, _ = self._listener.accept()
        except OSError:  # it has given up
            return None
        try:
            client.settimeout(_REQUEST_TIMEOUT)
            request = _receive(client, self._conditions, self._rights)
        except (OSError, ValueError):
            client.close()
            return None
        client.settimeout(None)
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        process = os.fork()
        if process == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            self._listener.close()
            return worker.Call(request, client.detach(), writer)
        for number in (writer, *request.files):
            os.close(number)
        call = _Call(client, process, reader)
        self._calls[process] = call
        self._selector.register(client, selectors.EVENT_READ, lambda: self._abandon(call))
        return None

    def _abandon(self, call: _Call) -> None:
        """End a call whose client has gone, such as by SIGKILL, unless it has ended at the same time."""
        if call.process not in self._calls:
            return
        self._selector.unregister(call.client)
        with contextlib.suppress(ProcessLookupError):
            os.kill(call.process, signal.SIGKILL)

    def _reap(self, wakeup: socket.socket, asker: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if signal.SIGTERM in wakeup.recv(4096) and self._listener.fileno() >= 0:
                self._close(asker)
        while self._calls:
            process, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            if not process:
                return
            if os.WIFSTOPPED(status):
                _send(self._calls[process].client, f"stopped {os.WSTOPSIG(status)}")
                continue
            call = self._calls.pop(process)
            if call.client in self._selector.get_map():
                self._selector.unregister(call.client)
            _send(call.client, f"ended {status}")
            call.client.close()
            with contextlib.suppress(BlockingIOError):  # it said nothing, and what it forked goes on
                _import(os.read(call.imports, 1 << 16).decode().split())
            os.close(call.imports)


def _send(client: socket.socket, line: str) -> None:
    with contextlib.suppress(OSError):
        client.sendall(f"{line}\n".encode())


def _import(names: list[str]) -> None:
    """Import what a call has imported, unless it needed an event loop."""
    if _BEGINS_LOOP in names or all(name in sys.modules for name in names):
        return
    for name in names:
        with contextlib.suppress(Exception):  # it was imported under a condition
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that the pages of what was imported are shared with the calls


def _list_rights(process: int) -> list[str]:
    """Return what a process may do and sees of the machine, as `ip netns exec`, `chroot`, `setpriv` or
    `systemd-run` change it for a call; nothing where the system does not say. Raises OSError."""
    if sys.platform != "linux":
        return []
    folder = Path("/proc", str(process))
    lines = (folder / "status").read_text().splitlines()
    spaces = [folder / "ns" / name for name in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")]
    places = [str(link.readlink()) for link in (*spaces, folder / "root")]
    groups = (folder / "cgroup").read_text()
    return [*(line for line in lines if line.startswith(_RIGHTS)), *places, groups]


def _receive(client: socket.socket, conditions: Sequence[str], rights: Sequence[str]) -> Request:
    """Receive a call. Raises OSError, or ValueError for one that cannot run here."""
    if hasattr(socket, "SO_PEERCRED"):
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process, user, group = struct.unpack("3i", credentials)
        if (user, group) != (os.geteuid(), os.getegid()) or _list_rights(process) != rights:
            raise ValueError
    else:
        process = 0
    block, files, _, _ = socket.recv_fds(client, 1 << 16, MAX_FILES + 1)
    try:
        length, _, begin = block.partition(b"\n")
        blocks = [begin]
        missing = int(length) - len(begin)
        while missing > 0:
            block = client.recv(1 << 20)
            if not block:
                raise ValueError
            blocks.append(block)
            missing -= len(block)
        return worker.parse(b"".join(blocks), files, conditions, process)
    except BaseException:
        for number in files:
            os.close(number)
        raise


def main() -> None:
    """Serve until what asked for the agent ends."""
    ending.prepare()
    folder = Path(sys.argv[1])
    shell = folder / sys.argv[2] if len(sys.argv) > 2 else None
    os.setsid()  # a process without a controlling terminal may use any terminal that it is given
    importlib.import_module("jsctl.app")  # what all calls need
    gc.collect()
    gc.freeze()
    agent = os.getpid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen(64)
        try:
            (folder / PROCESS).write_text(str(os.getpid()))
            print("ready", flush=True)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(null, 2)
            call = Agent(listener).serve(_watch(_read_process(shell)) if shell else 0)
        finally:
            if os.getpid() == agent:
                shutil.rmtree(folder, ignore_errors=True)
    if call:
        worker.run(call)


def _read_process(file: Path) -> int:
    """Return the id that a shell writes to a file. Raises SystemExit if it does not."""
    end = time.monotonic() + _SHELL_TIMEOUT
    while time.monotonic() < end:
        if file.exists() and (text := file.read_text()).endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise SystemExit(f"no shell wrote its process id to {file}")


def _watch(process: int) -> int:
    """Return a file that is readable once a process has ended."""
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(process)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        while True:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                os._exit(0)
            time.sleep(0.1)
    os.close(writer)
    return reader
