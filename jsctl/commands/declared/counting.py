"""What people see while `apply` carries out steps, of the store and of servers alike."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence

from jsctl.env import Env
from jsctl.errors import JsctlError

CONTINUE = "run apply again to continue"
"""What to do after a run that was stopped or failed half way."""


@contextlib.contextmanager
def counting(env: Env, done: Sequence[object], total: int) -> Iterator[Callable[[int], None]]:
    """Show the progress of steps, and say how many are done if the block is stopped or fails. Yields a
    function that takes the steps done."""
    try:
        with env.progress("Applying", total) as advance:
            yield advance
    except (JsctlError, OSError, asyncio.CancelledError):
        env.say(f"{len(done)} of {total} were done; {CONTINUE}")
        raise
