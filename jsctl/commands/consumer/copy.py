"""`jsctl consumer copy`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import SECTIONS, NewConsumerFlags, consumer_flags
from jsctl.commands.picking.pick import open_consumer, validate_name
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER, as_push, find_warnings, with_name
from jsctl.jetstream.declared.model import without_label
from jsctl.prompts import consumer as questions
from jsctl.views.consumer import info as view
from jsctl.views.result import Result, Text


@command(
    "copy",
    sections=SECTIONS,
    examples=[
        "jsctl consumer copy ORDERS NEW NEW2 --filter ORDERS.eu",
        "jsctl consumer copy ORDERS MONITOR DEBUG --target debug.ORDERS --deliver new",
    ],
)
@argument("stream", default="")
@argument("source", noun="consumer", default="")
@argument("destination", default="")
@consumer_flags("copy")
async def copy(env: Env, stream: str, source: str, destination: str, flags: NewConsumerFlags) -> Result:
    """Replace settings of the source with those that flags name."""
    if destination:
        validate_name("consumer", destination)
        if source == destination and not env.mirrors_nats:  # CONSUMER_EXISTS
            raise BadInput("the copy has the name of its source", "use another name")
    api, stream, source = await open_consumer(env, stream, source)
    destination = destination or await questions.ask_name(env.prompter, api, stream)
    info = await consumers.fetch_info(api, stream, source)
    config = without_label(CONSUMER.without_server_keys(info["config"]))
    if flags.push and not config.get("deliver_subject"):
        config = as_push(config)
    draft = with_name(flags.apply(config, env.clock()), destination, ephemeral=flags.ephemeral)
    CONSUMER.validate(draft)
    for warning in find_warnings(draft):
        env.say(f"warning: {warning}")
    if env.mirrors_nats:  # CONSUMER_EXISTS
        return view.info_page(await consumers.put(api, stream, draft))
    info, created = await consumers.create(api, stream, draft)
    result = view.info_page(info)
    if created:
        return result
    outcome = f"Consumer {stream} > {destination} already exists, nothing was changed"
    return Result([Text(outcome), *result.parts], data=result.data)
