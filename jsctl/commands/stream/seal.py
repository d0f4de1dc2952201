"""`jsctl stream seal`."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import seal_intent
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@command("seal", examples=["jsctl stream seal ORDERS", "jsctl stream seal ORDERS --force"])
@argument("stream", default="")
@unprotect_flag
@destructive("Seal without asking")
async def seal(env: Env, stream: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Prevent changes for good: messages can no longer be added to a sealed stream, or be deleted or purged,
    and none ages. Servers still accept edits, of which a lower --max-msgs-per-subject removes messages.
    """
    api, name = await open_stream(env, stream)
    fetch = partial(streams.fetch_info, api, name)
    info, _ = await seal_fetched(env, api, fetch, f"Stream {name}", unprotect, force)
    return view.info_page(info)


async def seal_fetched(
    env: Env, api: Api, fetch: Callable[[], Awaitable[Json]], what: str, unprotect: Sequence[str], force: bool
) -> tuple[Json, bool]:
    """Seal a stream or bucket after a question. Return its info, and whether it was not sealed before.

    fetch: fetches its info. what: its kind and name.
    """
    info = await fetch()
    if info["config"].get("sealed"):
        env.inform(f"{what} is already sealed; nothing was changed")
        return info, False
    refuse_protected([info], unprotect)
    await env.confirm(seal_intent(what, info), force=force)
    config = (await fetch())["config"]  # others may have changed it while the question stood
    return await streams.update(api, {**config, "sealed": True}), True
