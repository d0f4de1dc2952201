"""The value of a key, from the command line or stdin."""

from jsctl.commands.options.body import find_body
from jsctl.env import Env
from jsctl.errors import BadInput


async def read_value(env: Env, text: str | None) -> bytes:
    """Return the value on the command line; without one, or with `-`, all bytes of stdin.

    An empty text is a value on a terminal only, as in the `nats` tool. Raises BadInput.
    """
    is_terminal = env.streams.stdin.isatty()
    if text is None and is_terminal:
        raise BadInput("the value is missing", "specify VALUE, or pipe it in")
    value = find_body(env, text if text or is_terminal else None, "the value")
    return value if isinstance(value, bytes) else await value.read_all()
