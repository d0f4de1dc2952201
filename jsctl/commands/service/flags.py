"""The common parts of the verbs of `jsctl service`."""

from jsctl.commands.cli import DURATION, option
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.services.discovery import SILENCE, validate_service

silence_flag = option(
    "--silence",
    type=DURATION,
    default=SILENCE,
    metavar="DURATION",
    help="Maximum time between two replies (300ms)",
)


async def pick_service(env: Env, name: str) -> str:
    """Pick a service; see `pick`."""
    return validate_service(await pick(env, "service", name, api=await env.jetstream()))
