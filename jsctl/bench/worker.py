"""A process of a benchmark with some of its clients: `python -m jsctl.bench.worker`, for `crew` alone.

On stdin: the task, then `go` and `stop`; its end ends the process. On stdout: `ready`, `done` with messages
that were sent or received, `result`, and `alive` all the time.
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

_BEAT = 0.5
"""Seconds between two signs of life."""


def _write(line: bytes) -> None:
    try:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
    except OSError:
        pass  # nobody waits for it any more; the end of stdin says so, too


def _beat() -> None:
    while True:
        _write(b"alive")
        time.sleep(_BEAT)


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
            loop.call_soon_threadsafe(team.go if line.strip() == b"go" else team.stop)
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
    threading.Thread(target=_beat, daemon=True).start()
    asyncio.run(_work(sys.stdin.buffer.readline()))
    os._exit(0)  # a thread waits for stdin, which Python would do, too


if __name__ == "__main__":
    main()
