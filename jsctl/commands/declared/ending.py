"""The message to people when an `apply` ends early, on the store and on servers alike."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from jsctl.env import Env
from jsctl.errors import JsctlError


@contextlib.contextmanager
def describing_end(env: Env, describe: Callable[[], str]) -> Iterator[None]:
    """Say what was done if the block is stopped or fails. describe: returns it, in words."""
    try:
        yield
    except (JsctlError, OSError, asyncio.CancelledError):
        env.say("; ".join(filter(None, (describe(), "run apply again to continue"))))
        raise
