"""`jsctl service stats`."""

import asyncio
import time
from collections.abc import AsyncGenerator

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.service.flags import pick_service, silence_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.connection import Connection
from jsctl.services import statistics
from jsctl.services.discovery import gather, validate_service
from jsctl.units import MS, SECOND
from jsctl.views.events import Events, repeated
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
@option("--watch", is_flag=True, help="Show rates, errors and skew over the instances, repeatedly")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)")
@silence_flag
async def stats(
    env: Env, service: str, id: str, watch: bool, every: int, silence: int
) -> Result | Events[Result]:
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
    return repeated(_rounds(env, connection, service, id, every, silence))


async def _rounds(
    env: Env, connection: Connection, service: str, id: str, every: int, silence: int
) -> AsyncGenerator[Result, None]:
    """Yield what happened since the last look, repeatedly. every: ns."""
    before: dict[statistics.Key, statistics.Count] = {}
    looked = 0
    while True:
        documents = await gather(connection, "STATS", service, id, silence=silence, warn=env.say)
        now = time.monotonic_ns()
        counts = statistics.counts(documents)
        yield view.rates(statistics.rows(counts, before, (now - looked) / SECOND if looked else 0.0))
        before, looked = counts, now
        await asyncio.sleep(every / SECOND)
