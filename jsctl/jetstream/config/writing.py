"""Writing configurations that others write at the same time.

The server replaces a whole configuration with what was sent last: whoever asked before our change, and sends
after it, undoes it. So what is sent is based on a state that was asked for just before, and is verified once
such requests have arrived.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from jsctl.base.loops import gather, sleep
from jsctl.errors import ApiError, Unreachable

T = TypeVar("T")

_READS, _FRESH_SECONDS = 3, 0.1
"""What is sent is based on a state that was asked for no longer ago than this; otherwise it is asked for
again."""

_VERIFICATIONS, _SETTLING_SECONDS = 3, 0.25

_UNAVAILABLE = 503


async def read_fresh(read: Callable[[], Awaitable[T]]) -> T:
    """Return what `read` makes of the present state, again if that took long. Raises what `read` raises."""
    for _ in range(_READS - 1):
        began = time.monotonic()
        result = await read()
        if time.monotonic() - began < _FRESH_SECONDS:
            return result
    return await read()


async def verify(written: Sequence[T], repair: Callable[[T], Awaitable[bool]]) -> Sequence[T]:
    """Wait until what was written stays; return what somebody undoes again and again.

    repair: sends one again if it was undone, and returns whether it was. Raises what `repair` raises, but for
    a stream that does not answer for a moment, as when its replicas move.
    """

    async def repair_if_there(each: T) -> bool:
        try:
            return await repair(each)
        except Unreachable:
            return False
        except ApiError as error:
            if error.code != _UNAVAILABLE:
                raise
            return False

    for _ in range(_VERIFICATIONS):
        if not written:
            break
        await sleep(_SETTLING_SECONDS)
        undone = await gather(map(repair_if_there, written))
        written = [each for each, again in zip(written, undone, strict=True) if again]
    return written
