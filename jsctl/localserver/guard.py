"""The guard: a small process that starts the servers, and stops them when jsctl has ended.

Its stdin is a pipe from jsctl. When the pipe closes, even because jsctl was killed, the guard stops the
servers. This works on every system and cannot miss. Lines of JSON on stdin are orders, lines on stdout are
events:

    {"do": "start", "name", "argv", "cwd", "log"}    {"event": "started", "name", "pid"}
                                                     {"event": "failed", "name", "reason"}
                                                     {"event": "ended", "name", "status"}
                                                     {"event": "stopping"}    on SIGTERM
    {"do": "forget", "contexts": [...], "folder"}    contexts to remove when it ends
    {"do": "keep"}                                   continue when jsctl ends; SIGTERM stops it

To start fast it imports only the standard library, except at the end.
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
"""Seconds until servers that do not stop are killed."""


class _Stop(BaseException):
    """SIGTERM arrived."""


class Guard:
    """Starts servers, watches them and stops them.

    lock: the descriptor that holds the lock on the network's folder. The servers inherit it, so that the
    folder stays locked as long as one of them runs.
    """

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._watchers: list[threading.Thread] = []
        self._writing = threading.Lock()
        self._forget: list[dict[str, Any]] = []

    def run(self) -> None:
        """Execute orders until stdin closes or SIGTERM arrives, then stop the servers."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _stop)
        keeps_running = False
        try:
            for line in sys.stdin:
                order = json.loads(line)
                if order["do"] == "start":
                    self._start(order)
                elif order["do"] == "forget":
                    self._forget.append(order)
                elif order["do"] == "keep":
                    keeps_running = True
            if keeps_running:
                for watcher in self._watchers:
                    watcher.join()
        except _Stop:
            self._send(event="stopping")
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
            self._send(event="failed", name=name, reason=error.strerror or str(error))
            return
        self._servers[name] = server
        self._send(event="started", name=name, pid=server.pid)
        watcher = threading.Thread(target=self._watch, args=(name, server), daemon=True)
        watcher.start()
        self._watchers.append(watcher)

    def _watch(self, name: str, server: subprocess.Popen[bytes]) -> None:
        status = server.wait()
        self._send(event="ended", name=name, status=status)

    def _stop(self) -> None:
        # Servers depend on those that started before them.
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
                with contextlib.suppress(Exception):  # there is nobody to report it to
                    forget(os.environ, order["contexts"], order["folder"])

    def _send(self, **event: Any) -> None:
        with self._writing, contextlib.suppress(OSError):  # jsctl may have ended
            os.write(1, (json.dumps(event) + "\n").encode())


def _stop(number: int, frame: object) -> NoReturn:
    raise _Stop


def main() -> None:
    """Run `python -m jsctl.localserver.guard LOCK_DESCRIPTOR FOLDER`. The folder is there for people who
    read the list of processes."""
    Guard(int(sys.argv[1])).run()


if __name__ == "__main__":
    main()
