"""The reader of a pipe, such as `head`: whether it has read what was written, and its end, noticed before
there is more to write."""

import os
import stat
import sys
from collections.abc import Callable
from typing import TextIO

from jsctl.base.loops import sleep

_INTERVAL = 0.5  #: seconds between two looks for the end
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0001, 0.05  #: seconds between two looks for what was read
_TRIES = 50  #: looks before the first pause: a reader that waits has read everything at once


async def wait_until_closed(out: TextIO) -> None:
    """Return when the reader of the pipe or socket `out` has closed it; never for another kind of output."""
    is_closed = _watch(out)
    while not is_closed():
        await sleep(_INTERVAL)


async def wait_until_read(out: TextIO) -> None:
    """Return when the reader of the pipe `out` has read all that was written; at once for other outputs, and
    where the system does not tell. Raises BrokenPipeError when the reader has closed it before.
    """
    if not is_pipe(out):
        return
    from fcntl import ioctl
    from termios import FIONREAD

    handle, is_closed = out.fileno(), _watch(out)
    tries, pause = 0, _FIRST_PAUSE
    while any(ioctl(handle, FIONREAD, bytes(4))):
        if is_closed():
            raise BrokenPipeError
        tries += 1
        if tries < _TRIES:
            os.sched_yield()
            continue
        await sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def is_pipe(out: TextIO) -> bool:
    """Return whether an output is a pipe, where the system tells how much of it was read."""
    return sys.platform != "win32" and _is_kind(out, stat.S_ISFIFO)


def _watch(out: TextIO) -> Callable[[], bool]:
    """Return a function that tells whether the reader of a pipe or socket has closed it."""
    import select

    if sys.platform == "win32" or not _is_kind(out, stat.S_ISFIFO, stat.S_ISSOCK):  # Windows has no poll
        return lambda: False
    poll = select.poll()
    poll.register(out.fileno(), 0)  # the end of a reader is reported as an error, which is always watched
    return lambda: bool(poll.poll(0))


def _is_kind(out: TextIO, *kinds: Callable[[int], bool]) -> bool:
    try:
        mode = os.fstat(out.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return any(is_kind(mode) for is_kind in kinds)
