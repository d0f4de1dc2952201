"""Waiting for the end of a move of streams or a consumer."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from jsctl.base.command_lines import build_line
from jsctl.base.loops import sleep
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json

_INTERVAL_SECONDS: Final = 0.5
_LIMIT_SECONDS: Final = 60


async def wait_for_cancel(env: Env, kind: str, fetch: Callable[[], Awaitable[Sequence[Json]]]) -> list[Json]:
    """Return the infos that `fetch` returns once none of them moves. kind: "stream".

    Raises JsctlError after a minute.
    """
    env.inform("Waiting for the move to end")
    for _ in range(int(_LIMIT_SECONDS / _INTERVAL_SECONDS)):
        infos = [*await fetch()]
        moving = [info for info in infos if (info.get("cluster") or {}).get("desired")]
        if not moving:
            return infos
        await sleep(_INTERVAL_SECONDS)
    names = ", ".join(info.get("name") or info["config"]["name"] for info in moving)
    raise JsctlError(f"the move of {kind} {names} is not canceled yet", f"see {build_line(f'{kind} info')}")
