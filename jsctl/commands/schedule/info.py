"""`jsctl schedule info`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.schedule.shared import get_now, open_scheduling, parse_zone, zone_flag
from jsctl.env import Env
from jsctl.jetstream.message.schedules import fetch_schedule
from jsctl.views.result import Result
from jsctl.views.schedule import schedules as view


@command("info", examples=["jsctl schedule info JOBS jobs.plan.report"])
@argument("stream")
@argument("subject", completes="subject")
@zone_flag
async def info(env: Env, stream: str, subject: str, zone: str) -> Result:
    place = parse_zone(zone)
    api, config = await open_scheduling(env, stream)
    name = str(config["name"])
    return view.info(name, await fetch_schedule(api, name, subject), get_now(env), place)
