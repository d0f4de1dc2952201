"""A process of a benchmark with some of its clients: `python -m jsctl.bench.worker`, started by `crew`.

On stdin: the task, then `go` and `stop`; the process ends with it. On stdout: `ready`, `done` with the number
of messages that were sent or received, `result`, and `alive` all the time.
"""

import asyncio
import base64
import gc
import os
import pickle
import sys
import threading
import time

from jsctl.bench.meter import ProcessResult
from jsctl.bench.team import Team
from jsctl.errors import JsctlError

_HEARTBEAT_SECONDS = 0.5
"""Seconds between two heartbeats."""


def _write(line: bytes) -> None:
    try:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
    except OSError:
        pass  # the other process has ended; the end of stdin ends this one, too


def _send_heartbeats() -> None:
    while True:
        _write(b"alive")
        time.sleep(_HEARTBEAT_SECONDS)


async def _work(task: bytes) -> None:
    plan, settings, numbers = pickle.loads(base64.b64decode(task))
    team = Team(
        plan,
        settings,
        numbers,
        on_ready=lambda: _write(b"ready"),
        advance=lambda count: _write(b"done %d" % count),
    )
    loop = asyncio.get_running_loop()

    def listen() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(team.start_clients if line.strip() == b"go" else team.stop)
        loop.call_soon_threadsafe(team.stop)

    threading.Thread(target=listen, daemon=True).start()
    failure: tuple[str, str, int] | None = None
    try:
        result, error = await team.run()
    except JsctlError as raised:
        result, error = ProcessResult([]), raised
    if error is not None:
        failure = error.message, error.hint, int(error.status)
    _write(b"result " + base64.b64encode(pickle.dumps((result, failure))))


def main() -> None:
    """Read the task and run it."""
    gc.set_threshold(50_000)
    threading.Thread(target=_send_heartbeats, daemon=True).start()
    asyncio.run(_work(sys.stdin.buffer.readline()))
    os._exit(0)  # Python would wait for the thread that reads stdin


if __name__ == "__main__":
    main()
