"""`jsctl schedule ls`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.schedule.shared import get_now, open_scheduling, parse_zone, zone_flag
from jsctl.env import Env
from jsctl.jetstream.message.schedules import list_schedules
from jsctl.views.result import Result
from jsctl.views.schedule import schedules as view


@command(
    "ls",
    columns=view.COLUMNS,
    examples=["jsctl schedule ls JOBS", "jsctl schedule ls JOBS 'jobs.plan.>' --zone Europe/Amsterdam"],
)
@argument("stream", default="")
@argument("subject", default="", completes="subject")
@zone_flag
async def ls(env: Env, stream: str, subject: str, zone: str) -> Result:
    """Show the schedules on all subjects, or on those that match SUBJECT: when the stream publishes each next
    and, if its message is the last on the target, when it last did.
    """
    place = parse_zone(zone)
    api, config = await open_scheduling(env, stream)
    schedules = await list_schedules(api, config, subject)
    return view.listing(str(config["name"]), schedules, get_now(env), place)
