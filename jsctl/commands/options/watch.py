"""`--watch INTERVAL`: a result once, or repeated until ctrl-C."""

from collections.abc import Awaitable, Callable
from typing import Any

import click

from jsctl.base.units import MS, SECOND
from jsctl.commands.cli import DURATION, INTERVAL, declare_all, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.polling import fetch_again
from jsctl.views.board import Start, table_live
from jsctl.views.events import End, Events, repeated
from jsctl.views.result import Result

Report = Result | Events[Result]

WATCH: tuple[tuple[str], dict[str, Any]] = (
    ("--watch",),
    {"type": INTERVAL, "metavar": "INTERVAL", "help": "Repeat it every INTERVAL until ctrl-C or q"},
)
"""The flag, for `option(*WATCH[0], **WATCH[1])`."""

graph_flags = declare_all(
    option(
        "--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)"
    ),
    option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many samples"),
)
"""The flags of a graph: see `check_graph`."""

_SHORTEST = 100 * MS


def check_every(every: int, flag: str = "--every") -> None:
    """Raise BadInput for an interval that is too short. every: ns."""
    if every < _SHORTEST:
        raise BadInput(f"{flag} is too short", "use 100ms or more")


def check_interval(watch: int | None, hint: str = "", flag: str = "--watch") -> None:
    """Raise BadInput for an interval that is too short. watch: ns; None without the flag."""
    if watch is not None and watch < _SHORTEST:
        raise BadInput(f"{flag} must be 100ms or more", hint)


def check_screen(env: Env, every: int, count: int | None, flag: str = "--every") -> None:
    """Raise BadInput for a live screen without a terminal: a script would wait for ever. One that asks for a
    form, or for a number of rounds, gets them. every: ns between two rounds."""
    check_every(every, flag)
    if not (env.is_terminal or count or "form" in env.flags):
        path = click.get_current_context().command_path
        raise BadInput(f"{path} is a screen and needs a terminal", "--json or --as plain writes its rounds")


def check_graph(env: Env, every: int, count: int | None) -> None:
    """Raise BadInput for a graph that cannot be drawn. every: ns between two samples."""
    check_screen(env, every, count)
    if env.form in ("csv", "tsv"):
        raise BadInput("a graph has no table", "use --json")


def watch_results(fetch: Callable[[], Awaitable[Result]], every: int, count: int | None) -> Events[Result]:
    """Return the results of `fetch`, one every `every` ns; ctrl-C is the ordinary end.

    count: how many; None for no end.
    """
    context = click.get_current_context()
    fetch = context.obj.select_each(fetch)
    live = table_live(fetch, Start(context.command_path), every, count or 0)
    end = End[Result](limit=count or 0, endless=True, noun="round")
    return repeated(fetch_again(fetch, every), live)._replace(end=end)


async def fetch_or_watch(fetch: Callable[[], Awaitable[Result]], watch: int | None) -> Report:
    """Return the result of `fetch`; with `watch` (ns), one per interval, on a terminal on a screen with
    keys.
    """
    return await fetch() if watch is None else watch_results(fetch, watch, None)
