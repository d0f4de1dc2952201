"""`--watch` of single tables: the same question again and again."""

import asyncio
from collections.abc import Awaitable, Callable

from jsctl.env import Env
from jsctl.units import SECOND
from jsctl.views.result import Result

_CLEAR = "\x1b[H\x1b[2J"


async def repeat(env: Env, interval: int, ask: Callable[[], Awaitable[Result]]) -> None:
    """Show what `ask` finds every `interval` ns until ctrl-C; with --json a document a line."""
    from jsctl.render.emit import json_text

    while True:
        result = await ask()
        if env.wants_json:
            env.streams.stdout.write(json_text(result.document(), indent=None) + "\n")
        else:
            if env.is_terminal:
                env.streams.stdout.write(_CLEAR)
            env.emit(result)
        env.streams.stdout.flush()
        await asyncio.sleep(interval / SECOND)
