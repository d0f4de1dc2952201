"""`jsctl report`: several contexts and domains on one screen."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import click

from jsctl import registry
from jsctl.commands.cli import command, option
from jsctl.commands.cli.values import Duration
from jsctl.commands.report.screen import Wanted, live
from jsctl.commands.shared.targets import targets
from jsctl.commands.shared.watch import check_interval
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.report.lines import PARTS
from jsctl.monitor.report.overview import fetch_overview
from jsctl.monitor.report.rounds import Round, fetch_states, poll_states
from jsctl.monitor.report.rows import DomainState, Sort
from jsctl.monitor.report.spark_queries import SparkQuery, read_queries
from jsctl.units import SECOND
from jsctl.views.board import parse_filter
from jsctl.views.events import Events
from jsctl.views.report import report as view
from jsctl.views.report import rounds as rounds_view
from jsctl.views.result import Result


class _Interval(Duration):
    """ns; a command's name is none, though it stands where an interval may."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value in registry.children("report"):
            raise click.UsageError(f"--watch is for jsctl report alone, not for jsctl report {value}", ctx)
        return super().convert(value, param, ctx)


_PARTS = (*PARTS, *map(str, range(1, len(PARTS) + 1)))
_SORTS = ("name", "messages", "bytes", "rate", "lag", "trouble")


@command(
    "report",
    examples=[
        "jsctl report",
        "jsctl report --watch --context east --context west",
        "jsctl report --watch 5s --js-domain hub --js-domain leaf",
        "jsctl report --watch --part consumers --sort lag --stream 'ORDERS*'",
        "jsctl report --watch --all-contexts --problems --filter '!^test'",
        "jsctl report --watch 10s --count 6 --json",
        "jsctl report --watch --spark /shared/progress",
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
@option(
    "--sort",
    type=click.Choice(_SORTS),
    default=None,
    help="Order of the rows (name; on the screen of --watch what is wrong first)",
)
@option(
    "--part",
    type=click.Choice(_PARTS),
    metavar="PART",
    help="Part that the screen of --watch begins with, by name or number (streams): " + ", ".join(PARTS),
)
@option(
    "--filter",
    "search",
    metavar="REGEX",
    default="",
    help="Rows that the screen of --watch shows; !REGEX for all others",
)
@option("--problems", is_flag=True, help="Show only what is wrong on the screen of --watch")
@option("--all-contexts", is_flag=True, help="Report on all contexts")
@option(
    "--group",
    "groups",
    metavar="NAME",
    multiple=True,
    help="Report on the contexts named in ~/.config/jsctl/groups/NAME, one a line; may be repeated",
)
@option(
    "--consumers/--no-consumers",
    default=None,
    help="Include consumers (the default if at most 100 streams have any)",
)
@option(
    "--spark",
    metavar="DIR",
    default="",
    help="Show Spark's streaming queries too, which jsctl.spark.progress writes to DIR",
)
async def report(
    env: Env,
    watch: int | None,
    count: int | None,
    pattern: str,
    sort: str | None,
    part: str | None,
    search: str,
    problems: bool,
    all_contexts: bool,
    groups: tuple[str, ...],
    consumers: bool | None,
    spark: str,
) -> Result | Events[Round]:
    """--context and --js-domain may be repeated: the report then has a part for each domain of each context.
    A domain that cannot be reached is named, and does not hold up the others.

    With --json, one document {"at", "reports": [{"context", "domain", "at", "error", "trouble",
    "streams", "replication", "consumers"}]}; with --watch, one on each line.
    On a terminal, --watch is a screen with keys: ? lists them. None of them changes anything on a server.

    The exit status is 4 when a context could not be reached; with --watch it is 0, even after ctrl-C,
    unless --count was not reached.
    """
    check_interval(watch, "2s is the default")
    folder = Path(spark).expanduser() if spark else None
    queries = partial(_read_queries, folder)
    queries()  # a wrong folder is an error of the command line
    places, order = targets(env, groups, all_contexts=all_contexts), cast(Sort, sort or "name")
    fetch = partial(fetch_overview, pattern=pattern, consumers=consumers)
    if watch is None and count is None:
        states = await fetch_states(places, fetch, clock=env.clock, trace=env.trace)
        if len(states) == 1 and states[0].failure is not None and not env.wants_json:
            raise states[0].failure
        return _round_result(env, states, order, queries())
    interval = watch or 2 * SECOND
    rounds = poll_states(
        places,
        fetch,
        interval=interval,
        count=count,
        updates=env.has_screen,
        clock=env.clock,
        trace=env.trace,
    )
    wanted = Wanted(
        part=PARTS[int(part) - 1] if part and part.isdigit() else part or "",
        filter=_checked_filter(search),
        sort=sort or "",
        problems=problems,
        pattern=pattern,
        consumers=consumers,
        interval=interval,
        rounds=count or 0,
    )
    return rounds_view.events(
        rounds,
        lambda states: _round_result(env, states, order, queries(), timed=True),
        sort=order,
        interval=interval,
        count=count,
        scheme=places[0].colors,
        clock=env.clock,
        queries=queries,
    )._replace(live=live(env, places, wanted, queries))


def _checked_filter(text: str) -> str:
    try:
        parse_filter(text)
    except ValueError as error:
        raise BadInput(
            f"--filter: {error}", "write \\ ahead of characters that are meant as they are"
        ) from None
    return text


def _read_queries(folder: Path | None) -> Sequence[SparkQuery] | None:
    return None if folder is None else read_queries(folder)


def _round_result(
    env: Env,
    states: Sequence[DomainState],
    sort: Sort,
    queries: Sequence[SparkQuery] | None,
    *,
    timed: bool = False,
) -> Result:
    """Return one round for stdout. In CSV and TSV there is no place for failures: they go to stderr."""
    if env.form not in ("csv", "tsv"):
        return view.result(states, env.clock(), sort, timed=timed, queries=queries)
    for failure in view.failures(states):
        env.say(f"jsctl: {failure}")
    return view.flat(states, env.clock())
