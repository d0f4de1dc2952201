"""The guard: a small process that stops the servers of a network when jsctl has ended.

Its stdin is a pipe from jsctl. When the pipe closes, even because jsctl was killed, the guard stops all that
runs in the folder. This works on every system. A line `leave` on stdin keeps the servers running.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from jsctl.base.posix import HANGUP
from jsctl.localserver import processes


def main() -> None:
    """Run `python -m jsctl.localserver.guard FOLDER [CONTEXT...]`: contexts are removed when it ends."""
    for number in (signal.SIGINT, *HANGUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    folder, contexts = Path(sys.argv[1]), sys.argv[2:]
    for line in sys.stdin:
        if line.strip() == "leave":
            return
        contexts.append(line.strip())
    asyncio.run(processes.stop(list(processes.find_all(folder).values())))
    if contexts:
        from jsctl.localserver.contexts import forget

        with contextlib.suppress(Exception):  # nobody would see the error
            forget(os.environ, contexts, str(folder))


if __name__ == "__main__":
    main()
