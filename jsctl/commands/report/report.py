"""`jsctl report`: several contexts and domains on one screen."""

from functools import partial
from typing import Any, cast

import click

from jsctl import registry
from jsctl.commands.cli import command, option
from jsctl.commands.cli.values import Duration
from jsctl.commands.report import rounds
from jsctl.commands.report.targets import targets
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.report.overview import fetch_overview
from jsctl.monitor.report.rows import Sort
from jsctl.monitor.report.watching import watch as watch_targets
from jsctl.units import MS, SECOND
from jsctl.views.result import Result


class _Interval(Duration):
    """ns; a command's name is none, though it stands where an interval may."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value in registry.children("report"):
            raise click.UsageError(f"--watch is for jsctl report alone, not for jsctl report {value}", ctx)
        return super().convert(value, param, ctx)


_SORTS = ("name", "messages", "bytes", "rate", "lag", "trouble")


@command(
    "report",
    examples=[
        "jsctl report",
        "jsctl report --watch --context east --context west",
        "jsctl report --watch 5s --js-domain hub --js-domain leaf",
        "jsctl report --watch --sort lag --stream 'ORDERS*'",
        "jsctl report --watch 10s --count 6 --json",
    ],
)
@option(
    "--watch",
    metavar="[INTERVAL]",
    type=_Interval(),
    is_flag=False,
    flag_value="2s",
    help="Repeat it every INTERVAL (2s) until ctrl-C or q",
)
@option(
    "--count",
    metavar="N",
    type=click.IntRange(min=1),
    help="End after N rounds; without --watch, every 2s",
)
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option("--sort", type=click.Choice(_SORTS), default="name", help="Order of the rows (name)")
@option(
    "--consumers/--no-consumers",
    default=None,
    help="Show consumers too; by default when at most 100 streams have some",
)
async def report(
    env: Env, watch: int | None, count: int | None, pattern: str, sort: str, consumers: bool | None
) -> Result | None:
    """Give --context and --js-domain more than once to see all of them: each domain of each context has a
    part of its own; one that cannot be reached says so while the others go on.

    With --json, one document {"at", "reports": [{"context", "domain", "at", "error", "trouble",
    "streams", "replication", "consumers"}]}; with --watch, one on each line.
    The exit status is 4 when a context could not be reached; with --watch it is 0, also after ctrl-C,
    unless ctrl-C cuts --count short.
    """
    if watch is not None and watch < 100 * MS:
        raise BadInput("--watch takes 100ms or more", "2s is the default")
    places = targets(env)
    repeated = watch is not None or count is not None
    options = rounds.Options((watch or 2 * SECOND) / SECOND, count, cast(Sort, sort))

    fetch = partial(fetch_overview, pattern=pattern, consumers=consumers)
    async with watch_targets(places, fetch, clock=env.clock, trace=env.trace) as watched:
        if repeated:
            await rounds.run(env, watched, options)
            return None
        await watched.once()
        states = rounds.domain_states(watched, options.interval)
    if len(states) == 1 and states[0].failure is not None and not env.wants_json:
        raise states[0].failure
    return rounds.round_result(env, states, options.sort)
