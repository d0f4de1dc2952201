"""`jsctl service stats`."""

import time

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.service.flags import pick_service, silence_flag
from jsctl.commands.shared.watching import watch_results
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.services import statistics
from jsctl.services.discovery import gather, validate_service
from jsctl.units import MS, SECOND
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command(
    "stats",
    examples=[
        "jsctl service stats weather",
        "jsctl service stats --watch",
        "jsctl service stats weather --watch",
    ],
)
@argument("service", default="")
@argument("id", default="")
@option("--watch", is_flag=True, help="Show rates, errors and skew over the instances, again and again")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two looks (1s)")
@silence_flag
async def stats(env: Env, service: str, id: str, watch: bool, every: int, silence: int) -> Result | None:
    """With --watch, one line an endpoint, over all instances; without SERVICE, of all services. Skew compares
    the busiest instance with an even share: 1 is even, 2 is twice that.
    """
    if every < 100 * MS:
        raise BadInput("--every is too short", "100ms at least")
    connection = await env.connection()
    if not watch:
        name = await pick_service(env, service)
        documents = await gather(connection, "STATS", name, id, silence=silence, warn=env.say)
        return view.stats(name, documents)
    if service:
        validate_service(service)
    before: dict[statistics.Key, statistics.Count] = {}
    looked = 0

    async def look() -> Result:
        nonlocal before, looked
        documents = await gather(connection, "STATS", service, id, silence=silence, warn=env.say)
        now = time.monotonic_ns()
        counts = statistics.counts(documents)
        rows = statistics.rows(counts, before, (now - looked) / SECOND if looked else 0.0)
        before, looked = counts, now
        return view.rates(rows)

    await watch_results(env, look, every)
    return None
