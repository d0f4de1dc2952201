"""`jsctl consumer find`."""

from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.criteria import CRITERIA, chosen
from jsctl.commands.shared.pick import pick_stream
from jsctl.env import Env
from jsctl.views.events import Events, names


@command(
    "find",
    examples=[
        "jsctl consumer find ORDERS --pull --idle 1h",
        "jsctl consumer find ORDERS --pending 1 --invert",
        "jsctl consumer find ORDERS --expression 'config.max_ack_pending > 100 && state.num_pending > 0'",
    ],
)
@argument("stream", default="")
@CRITERIA.add
async def find(env: Env, stream: str, **flags: Any) -> Events[str]:
    """An expression sees config, state and info as `consumer info --json` shows them, and Info with the names
    of Go.
    """
    api = await env.jetstream()
    pages = chosen(env, api, await pick_stream(env, api, stream), flags)
    return names([info["name"] for info in page] async for page in pages)
