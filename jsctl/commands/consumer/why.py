"""`jsctl consumer why`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.monitor.consumer.diagnosis import find_causes
from jsctl.monitor.consumer.why import fetch_facts
from jsctl.views.consumer import why as view
from jsctl.views.result import Result


@command("why", examples=["jsctl consumer why ORDERS NEW", "jsctl consumer why ORDERS NEW --json"])
@argument("stream", default="")
@argument("consumer", default="")
async def why(env: Env, stream: str, consumer: str) -> Result:
    """Show each reason with the numbers that prove it and with what would help."""
    api, stream, consumer = await open_consumer(env, stream, consumer)
    causes = find_causes(await fetch_facts(api, stream, consumer))
    return view.explained(stream, consumer, causes)
