"""The guard: a small process that starts the servers, and stops them when jsctl is gone.

Its stdin is a pipe from jsctl. When that closes, also because jsctl was killed, the servers are stopped: one
mechanism for every system, and none that can miss. Lines of JSON on stdin say what to do, lines on stdout
what happened:

    {"do": "start", "name", "argv", "cwd", "log"}    {"event": "started", "name", "pid"}
                                                     {"event": "failed", "name", "reason"}
                                                     {"event": "ended", "name", "status"}
                                                     {"event": "stopping"}    SIGTERM came
    {"do": "forget", "contexts": [...], "folder"}    contexts to remove at the end
    {"do": "keep"}                                   go on when jsctl has ended; SIGTERM stops

Imports the standard library alone until the end: it must start fast.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

GRACE = 8.0
"""Seconds that servers have to stop by themselves."""


class _Stop(BaseException):
    """SIGTERM came."""


class Guard:
    """lock: a descriptor that holds the lock on the network's folder; the servers inherit it, so that the
    folder stays locked as long as any of them lives."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._watchers: list[threading.Thread] = []
        self._writing = threading.Lock()
        self._forget: list[dict[str, Any]] = []

    def run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _stop)
        kept = False
        try:
            for line in sys.stdin:
                order = json.loads(line)
                if order["do"] == "start":
                    self._start(order)
                elif order["do"] == "forget":
                    self._forget.append(order)
                elif order["do"] == "keep":
                    kept = True
            if kept:
                for watcher in self._watchers:
                    watcher.join()
        except _Stop:
            self._say(event="stopping")
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self._stop()

    def _start(self, order: dict[str, Any]) -> None:
        name = order["name"]
        try:
            with Path(order["log"]).open("ab") as log:
                server = subprocess.Popen(
                    order["argv"],
                    cwd=order["cwd"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(self._lock,),
                )
        except OSError as error:
            self._say(event="failed", name=name, reason=error.strerror or str(error))
            return
        self._servers[name] = server
        self._say(event="started", name=name, pid=server.pid)
        watcher = threading.Thread(target=self._watch, args=(name, server), daemon=True)
        watcher.start()
        self._watchers.append(watcher)

    def _watch(self, name: str, server: subprocess.Popen[bytes]) -> None:
        status = server.wait()
        self._say(event="ended", name=name, status=status)

    def _stop(self) -> None:
        # The last one started depends on those before it.
        servers = list(reversed(self._servers.values()))
        for server in servers:
            server.terminate()
        deadline = time.monotonic() + GRACE
        for server in servers:
            try:
                server.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        if self._forget:
            from jsctl.localserver.contexts import forget

            for order in self._forget:
                with contextlib.suppress(Exception):  # nobody is left to be told
                    forget(os.environ, order["contexts"], order["folder"])

    def _say(self, **event: Any) -> None:
        with self._writing, contextlib.suppress(OSError):  # jsctl may be gone
            os.write(1, (json.dumps(event) + "\n").encode())


def _stop(number: int, frame: object) -> NoReturn:
    raise _Stop


def main() -> None:
    """`python -m jsctl.localserver.guard LOCK_DESCRIPTOR FOLDER`; the folder is for people who look at
    the list of processes."""
    Guard(int(sys.argv[1])).run()


if __name__ == "__main__":
    main()
