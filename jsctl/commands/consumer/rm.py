"""`jsctl consumer rm`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.change_estimate import estimate_consumer_loss
from jsctl.jetstream.stream import requests as streams
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl consumer rm ORDERS NEW", "jsctl consumer rm ORDERS NEW --force"])
@argument("stream", default="")
@argument("consumer", default="")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, stream: str, consumer: str, force: bool) -> Result:
    if force and not (stream and consumer):
        raise BadInput("--force needs both names", "specify STREAM and CONSUMER")
    api, stream, consumer = await open_consumer(env, stream, consumer)
    if env.dry_run or not force:
        info = await consumers.fetch_info(api, stream, consumer)  # NotFound before the question
        loss = await estimate_consumer_loss(api, await streams.fetch_info(api, stream), info, None)
        await env.confirm(change_intent("delete", info, loss=loss), force=force)
    await consumers.delete(api, stream, consumer)
    return report(f"Consumer {stream} > {consumer} was removed", {"stream": stream, "consumer": consumer})
