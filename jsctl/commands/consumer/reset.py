"""`jsctl consumer reset`."""

import click

from jsctl.base.units import format_count
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.consumer.losing import find_losing
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.change_estimate import Changes
from jsctl.views.consumer import info as view
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result


@command(
    "reset", examples=["jsctl consumer reset ORDERS NEW", "jsctl consumer reset ORDERS NEW --sequence 1000"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option(
    "--sequence",
    type=click.IntRange(min=0),
    metavar="SEQUENCE",
    help="Deliver from this sequence (default: the ack floor)",
)
@loss_flags
@destructive("Reset without asking")
async def reset(
    env: Env, stream: str, consumer: str, sequence: int | None, permits: LossOptions, force: bool
) -> Result:
    api, stream, consumer = await open_consumer(env, stream, consumer)
    before = await consumers.fetch_info(api, stream, consumer)
    is_resettable = before["config"].get("deliver_policy") in consumers.RESETTABLE
    if sequence and not is_resettable:
        raise BadInput(
            f"consumer {stream} > {consumer} did not start at a sequence, so it"
            " can only go back to its ack floor",
            "leave out --sequence",
        )
    where = f"sequence {format_count(sequence)}" if sequence else "its acknowledgement floor"
    changes = Changes(resets={consumer: sequence} if sequence else {})
    losing = await find_losing(api, stream, changes)
    intent = change_intent("reset", before, f" to {where}", losing.loss, sequence=sequence or None)
    await permits.confirm(env, intent, [losing], force=force)
    if not sequence and is_resettable:
        # Without a sequence, the server (2.15) skips the messages that reached max_deliver.
        sequence = int(before["ack_floor"]["stream_seq"]) + 1
    info = await consumers.reset(api, stream, consumer, sequence)
    return view.info_page(info, state_only=True)
