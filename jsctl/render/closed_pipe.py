"""The end of a pipe's reader, such as `head`, noticed before there is more to write."""

import os
import stat
import sys
from typing import TextIO

from jsctl.base.loops import sleep

_INTERVAL = 0.5  #: seconds between two looks


async def wait_until_closed(out: TextIO) -> None:
    """Return when the reader of the pipe or socket `out` has closed it; never for another kind of output."""
    import select

    if sys.platform == "win32" or not _is_pipe(out):  # Windows has no poll
        while True:
            await sleep(3600)
    poll = select.poll()
    poll.register(out.fileno(), 0)  # the end of a reader is reported as an error, which is always watched
    while not poll.poll(0):
        await sleep(_INTERVAL)


def _is_pipe(out: TextIO) -> bool:
    try:
        mode = os.fstat(out.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
