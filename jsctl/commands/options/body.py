"""Bodies, values and documents: from the command line or stdin, by one rule for all verbs that take one."""

import os
import stat
from typing import TextIO

from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.stdin import STDIN, Stdin


def find_body(env: Env, text: str | None, name: str = "the body", *, forced: bool = False) -> bytes | Stdin:
    """Return the body on the command line; without one, or for `-`, stdin, as `find_stdin` does."""
    if text is not None and text != STDIN:
        return os.fsencode(text)
    return find_stdin(env, name, forced=forced or text == STDIN)


async def read_value(env: Env, text: str | None) -> bytes:
    """Return the value of a key on the command line; without one, or with `-`, all bytes of stdin.

    An empty text is a value on a terminal only, as in the `nats` tool. Raises BadInput.
    """
    is_terminal = env.streams.stdin.isatty()
    if text is None and is_terminal:
        raise BadInput("the value is missing", "specify VALUE, or pipe it in")
    value = find_body(env, text if text or is_terminal else None, "the value")
    return value if isinstance(value, bytes) else await value.read_all()


def find_stdin(env: Env, name: str, *, forced: bool) -> Stdin:
    """Return stdin, which is the body up to its end.

    Args: name: what errors, and the notice while nothing comes, call the body. forced: whether `-` or a flag
    asks for stdin.

    Raises BadInput for a regular file on stdin that something has read from, as a shell does that reads a
    loop's list: the rest of the list is the body only if the user asks for it.
    """
    stdin = env.streams.stdin
    if not forced and not env.mirrors_nats and _is_partly_read(stdin):  # LOOP_STDIN
        raise BadInput(
            f"stdin is a file that was read from before, so the rest of it is not {name}",
            f"add </dev/null if {name} is empty, or - to read the rest",
        )
    notice = f"jsctl: waiting for {name} on stdin, up to its end; add </dev/null if it is empty"
    return Stdin(stdin, lambda: env.say(notice))


def _is_partly_read(stdin: TextIO) -> bool:
    """Return whether stdin is a regular file whose position is not its beginning."""
    try:
        handle = stdin.fileno()
        return stat.S_ISREG(os.fstat(handle).st_mode) and os.lseek(handle, 0, os.SEEK_CUR) != 0
    except (OSError, ValueError):  # an object in place of a file
        return False
