"""`jsctl consumer rm`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.consumer.losing import find_losing
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.change_estimate import Changes
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result, report


@command("rm", examples=["jsctl consumer rm ORDERS NEW", "jsctl consumer rm ORDERS NEW --force"])
@argument("stream", default="")
@argument("consumer", default="")
@loss_flags
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, stream: str, consumer: str, permits: LossOptions, force: bool) -> Result:
    if force and not (stream and consumer):
        raise BadInput("--force needs both names", "specify STREAM and CONSUMER")
    api, stream, consumer = await open_consumer(env, stream, consumer)
    losing = await find_losing(api, stream, Changes(consumers={consumer: None}))
    if env.dry_run or not force:
        info = await consumers.fetch_info(api, stream, consumer)  # NotFound before the question
        await permits.confirm(env, change_intent("delete", info, loss=losing.loss), [losing], force=force)
    else:
        permits.refuse(env, [losing], force=force)
    await consumers.delete(api, stream, consumer)
    return report(f"Consumer {stream} > {consumer} was removed", {"stream": stream, "consumer": consumer})
