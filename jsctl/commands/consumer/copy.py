"""`jsctl consumer copy`."""

from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import consumer_flags, laid
from jsctl.commands.shared.pick import consumer_name, stream_name
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import config as configs
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.declared.model import unlabelled
from jsctl.views.consumer import info as view
from jsctl.views.result import Result, Text


@command(
    "copy",
    examples=[
        "jsctl consumer copy ORDERS NEW NEW2 --filter ORDERS.eu",
        "jsctl consumer copy ORDERS MONITOR DEBUG --target debug.ORDERS --deliver new",
    ],
)
@argument("stream")
@argument("source", noun="consumer")
@argument("destination")
@consumer_flags("copy")
async def copy(env: Env, stream: str, source: str, destination: str, **flags: Any) -> Result:
    """Flags replace single settings."""
    stream, source, destination = stream_name(stream), consumer_name(source), consumer_name(destination)
    if source == destination:
        raise BadInput("a copy needs a name of its own")
    api = await env.jetstream()
    live = unlabelled(configs.own((await consumers.info(api, stream, source))["config"]))
    if flags["target"] and not live.get("deliver_subject"):
        live = configs.as_push(live)
    draft = configs.named(laid(live, flags, env.clock()), destination, ephemeral=flags["ephemeral"])
    configs.check(draft)
    info, created = await consumers.create(api, stream, draft)
    result = view.sheet(info)
    if created:
        return result
    told = f"Consumer {stream} > {destination} exists already, nothing was changed"
    return Result([Text(told), *result.parts], data=result.data)
