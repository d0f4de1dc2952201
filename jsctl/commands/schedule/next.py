"""`jsctl schedule next`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.schedule.shared import get_now, open_scheduling, parse_zone, zone_flag
from jsctl.env import Env
from jsctl.jetstream.message.schedules import fetch_schedule
from jsctl.views.result import Result
from jsctl.views.schedule import schedules as view


@command(
    "next",
    columns=view.RUNS,
    examples=[
        "jsctl schedule next JOBS jobs.plan.report",
        "jsctl schedule next JOBS jobs.plan.report --count 20 --zone Asia/Tokyo",
    ],
)
@argument("stream")
@argument("subject", completes="subject")
@option("--count", type=click.IntRange(1, 1000), default=5, metavar="N", help="Number of runs (5)")
@zone_flag
async def next(env: Env, stream: str, subject: str, count: int, zone: str) -> Result:
    """Start from the run that the server has noted, if the schedule has written a message, else from the time
    at which it was stored. After an outage servers run a schedule once, and skip the runs that they missed.
    """
    place = parse_zone(zone)
    api, config = await open_scheduling(env, stream)
    name = str(config["name"])
    return view.next_runs(await fetch_schedule(api, name, subject), get_now(env), count, place)
