"""What changes of consumers delete in their stream."""

from jsctl.commands.options.data_loss import Losing
from jsctl.errors import Denied
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.change_estimate import Changes, estimate_losses
from jsctl.jetstream.message.data_loss import UNKNOWN
from jsctl.jetstream.stream import requests as streams


async def find_losing(api: Api, stream: str, changes: Changes) -> Losing:
    """Return what a stream loses; it is unknown to a login that may not ask for it. Raises MissingName."""
    try:
        info = await streams.fetch_info(api, stream)
    except Denied:
        return Losing(f"Stream {stream}", {"config": {"name": stream}}, UNKNOWN)
    return Losing(f"Stream {stream}", info, (await estimate_losses(api, info, changes)).total)
