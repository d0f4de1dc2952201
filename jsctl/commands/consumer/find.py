"""`jsctl consumer find`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.criteria import consumer_criteria_flags, find_matching_consumers
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.find.criteria import ConsumerCriteria
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
@consumer_criteria_flags
async def find(env: Env, stream: str, criteria: ConsumerCriteria) -> Events[str]:
    """Filter with --expression by a condition over config, state and info, as `consumer info --json` has
    them, and over Info, with the names of Go; `jsctl stream find --help` lists the operators.
    """
    api, stream = await open_stream(env, stream)
    pages = find_matching_consumers(env, api, stream, criteria)
    return names([info["name"] for info in page] async for page in pages)
