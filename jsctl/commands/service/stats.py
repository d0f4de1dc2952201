"""`jsctl service stats`."""

import time
from functools import partial

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.watch import check_every, fetch_or_watch
from jsctl.commands.service.flags import pick_service, silence_flag
from jsctl.env import Env
from jsctl.nats.connection import Connection
from jsctl.services import statistics
from jsctl.services.discovery import gather, validate_service
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command(
    "stats",
    columns=view.STATS,
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
    """Show a line per endpoint with --watch, over all instances; without SERVICE, for all services. Skew
    compares the busiest instance with an even share: 1 is even, 2 is twice that.
    """
    check_every(every)
    connection = await env.connection()
    if not watch:
        name = await pick_service(env, service)
        documents = await gather(connection, "STATS", name, id, silence=silence, warn=env.say)
        return view.stats(name, documents)
    if service:
        validate_service(service)
    return await fetch_or_watch(_RateSampler(env, connection, service, id, silence), every)


class _RateSampler:
    """The rates since the previous call."""

    def __init__(self, env: Env, connection: Connection, service: str, id: str, silence: int) -> None:
        self._ask = partial(gather, connection, "STATS", service, id, silence=silence, warn=env.say)
        self._previous_counts: dict[statistics.Key, statistics.Count] = {}
        self._sampled_at = 0

    async def __call__(self) -> Result:
        documents = await self._ask()
        now = time.monotonic_ns()
        counts = statistics.read_counts(documents)
        seconds = (now - self._sampled_at) / SECOND if self._sampled_at else 0.0
        result = view.rates(statistics.compute_rows(counts, self._previous_counts, seconds))
        self._previous_counts, self._sampled_at = counts, now
        return result
