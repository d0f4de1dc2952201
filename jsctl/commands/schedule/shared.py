"""The common parts of the verbs of `jsctl schedule`."""

from datetime import tzinfo

from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli import option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.cron import find_zone
from jsctl.jetstream.message.schedules import require_schedules
from jsctl.jetstream.stream import requests as streams

zone_flag = option("--zone", metavar="ZONE", default="", help="Show times in this zone: Europe/Amsterdam")


def parse_zone(name: str) -> tzinfo | None:
    """Return the zone of --zone; None for the local one. Raises BadInput."""
    return find_zone(name) if name else None


async def open_scheduling(env: Env, stream: str) -> tuple[Api, Json]:
    """Return the JetStream API and the configuration of a stream. Raises BadInput if it does not allow
    schedules."""
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    require_schedules(info["config"])
    return api, info["config"]


def get_now(env: Env) -> int:
    """Return the time in ns since 1970."""
    return seconds_to_ns(env.clock())
