"""The verbs of `jsctl service` about services that run."""

import asyncio
import time
from functools import partial
from typing import Any

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.watch import check_every, fetch_or_watch
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import JsctlError, NotFound
from jsctl.nats.connection import Connection
from jsctl.services import statistics
from jsctl.services.discovery import SILENCE, gather, validate_service
from jsctl.services.discovery import ping as ping_services
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.service import documents as view

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


@command("list", columns=view.LIST, examples=["jsctl service list weather", "jsctl service list"])
@argument("service", default="")
@silence_flag
async def list_(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    found = await gather(await env.connection(), "INFO", service, silence=silence, warn=env.say)
    if not found and env.mirrors_nats:  # NOTHING_FOUND
        raise NotFound("no services answered")
    return view.listing(found)


@command("ping", columns=view.PINGS, examples=["jsctl service ping weather", "jsctl service ping"])
@argument("service", default="")
@silence_flag
async def ping(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.pings(await ping_services(await env.connection(), service, silence=silence, warn=env.say))


@command(
    "info",
    columns=(),
    examples=["jsctl service info weather", "jsctl service info weather --endpoint 'v2.*' --json"],
)
@argument("service", default="")
@argument("id", default="")
@option("--endpoint", "-e", metavar="REGEX", default="", help="Only endpoints whose name matches")
@silence_flag
async def info(env: Env, service: str, id: str, endpoint: str, silence: int) -> Result:
    """Show all instances, or the one of ID, with their statistics. Schemas in the metadata of endpoints are
    indented. With --json, info and stats are those of the first instance; instances has all.
    """
    pattern = compile_pattern(endpoint, flag="--endpoint")
    name = await pick_service(env, service)
    connection = await env.connection()

    async def ask(verb: str) -> list[dict[str, Any]]:
        return await gather(connection, verb, name, id, silence=silence, warn=env.say)

    async def ask_statistics() -> list[dict[str, Any]]:
        try:
            return await ask("STATS")
        except JsctlError:  # not every service has them
            return []

    infos, statistics = await asyncio.gather(ask("INFO"), ask_statistics())
    return view.info(infos, statistics, pattern)


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
