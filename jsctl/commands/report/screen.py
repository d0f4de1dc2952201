"""The screen of `jsctl report --watch`, with keys."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import click

from jsctl import registry
from jsctl.base.loops import cancel_all
from jsctl.base.units import SECOND, format_time, seconds_to_ns
from jsctl.commands.alerting.watching import Alerting
from jsctl.commands.cli.values import Parsed
from jsctl.commands.report.acting import Changes
from jsctl.commands.report.fail_on import FailOn
from jsctl.commands.report.open_pages import OpenPages
from jsctl.commands.report.rounds import record_round
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.report.listings import LISTED
from jsctl.monitor.report.places import Needs, Places
from jsctl.monitor.report.recording import Recorder
from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.render.style import SCHEMES
from jsctl.views.board import Board, Live, Query, Start, parse_filter
from jsctl.views.events import close_after
from jsctl.views.report import board as view
from jsctl.views.report.choice import Choice
from jsctl.views.result import Result, Text
from jsctl.views.shared.figures import find_grid_key


class ReportInterval(Parsed):
    """The type of an interval in ns. It refuses the name of a subcommand in its place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return it in ns; see click.ParamType."""
        if value in registry.list_children("report"):
            path = ctx.command_path if ctx else "report"
            raise click.UsageError(f"--watch is for {path} alone, not for {path} {value}", ctx)
        return super().convert(value, param, ctx)


class Selection(NamedTuple):
    """What the flags choose. interval: ns. rounds: 0 for no end. is_by_name: whether contexts are named."""

    part: str
    filter: str
    sort: str
    problems: bool
    pattern: str
    consumers: bool
    interval: int
    rounds: int
    allow_changes: bool = False
    is_by_name: bool = False


def choose_rows(selection: Selection) -> Choice:
    """Return which rows are shown without a screen. Raises BadInput for a wrong --filter."""
    try:
        return Choice(selection.part, selection.problems, parse_filter(selection.filter))
    except ValueError as error:
        raise BadInput(f"--filter: {error}", "write \\ before characters that are meant literally") from None


def build_screen(
    env: Env,
    targets: Sequence[Settings],
    selection: Selection,
    queries: Callable[[], Sequence[SparkQuery] | None],
    recorder: Recorder | None,
    condition: FailOn,
    alerting: Alerting | None,
) -> Live:
    """Return the screen over these contexts and domains.

    recorder, alerting: receive every round. condition: ends it.
    """
    needs = condition.needs or ("screen" if recorder is None and alerting is None else "all")
    places = watch_places(env, targets, selection, needs, is_recorded=recorder is not None)
    changes = Changes(env, places, is_by_name=selection.is_by_name) if selection.allow_changes else None
    open_pages = OpenPages(places, env.clock, changes)
    number = 0
    last_board = Board(())
    production = _find_production(targets)
    beneath: asyncio.Task[None] | None = None  #: the round that goes on while a page is open

    async def run_round(listing: str, *, is_beneath: bool = False) -> AsyncIterator[Board]:
        nonlocal number, last_board
        number += 1
        places.listing = listing
        async for current_places in places.one_round(selection.interval / SECOND, keeps_places=is_beneath):
            last_board = view.board(
                current_places, env.clock(), number, queries(), places.listing, marked=production
            )
            firing = [] if alerting is None else [Text(line, "bad") for line in alerting.list_firing()]
            last_board = last_board._replace(notices=[*firing, *last_board.notices])
            yield last_board
        record_round(recorder, places, current_places, env.clock(), alerting)
        condition.evaluate(current_places)

    async def run_beneath(listing: str) -> None:
        async for _ in run_round(listing, is_beneath=True):
            pass

    async def fetch(query: Callable[[], Query]) -> AsyncIterator[Board]:
        nonlocal beneath
        if query().page is None:
            open_pages.close()
            if beneath is not None:
                running, beneath = beneath, None
                await running
            async with close_after(run_round(query().part)) as boards:
                async for board in boards:
                    yield board
            return
        if beneath is None or beneath.done():
            ended, beneath = beneath, asyncio.ensure_future(run_beneath(query().part))
            if ended is not None:
                ended.result()
        yield await open_pages.fetch(query(), last_board)

    async def close() -> None:
        if beneath is not None:
            await cancel_all([beneath])
        await places.close()
        if alerting is not None:
            await alerting.close()
        condition.report()
        if changes is not None and (text := changes.describe()):
            env.say(text)

    return Live(
        fetch,
        _build_start(selection, targets),
        selection.interval,
        selection.rounds,
        close,
        status=lambda: condition.status,
        is_watching=recorder is not None or alerting is not None or bool(condition.needs),
    )


def watch_places(
    env: Env, targets: Sequence[Settings], selection: Selection, needs: Needs, *, is_recorded: bool
) -> Places:
    """Return contexts and domains that are asked in rounds."""
    return Places(
        targets,
        pattern=selection.pattern,
        with_consumers=selection.consumers,
        needs=needs,
        listing=selection.part if selection.part in LISTED else "",
        clock=env.clock,
        trace=env.trace,
        say=env.say,
        listens_for="all" if is_recorded else "",
    )


def build_replay_screen(replay: Replay, selection: Selection) -> Live:
    """Return the screen over recorded rounds, which follow each other at the pace of the recording."""
    times = replay.times
    number = -1

    async def fetch(query: Callable[[], Query]) -> AsyncIterator[Board]:
        nonlocal number
        number = query().position
        places = await replay.show(number)
        board = view.board(places, times[number], number, listing=query().part)
        if query().page is not None:
            note = Text("a recording has no pages: J shows what it knows of a row", "warn")
            board = board._replace(page=Result([note]))
        moment = format_time(seconds_to_ns(times[number]))
        yield board._replace(heading=f"{board.heading.rpartition('  ')[0]}  {moment}")

    gaps = sorted(after - before for before, after in pairwise(times))
    median = gaps[len(gaps) // 2] if gaps else 1.0
    interval = min(max(round(median * SECOND), SECOND // 5), 5 * SECOND)
    return Live(fetch, _build_start(selection), interval, times=times)


def _find_production(targets: Sequence[Settings]) -> dict[str, str]:
    """Return the color of each context that is marked as production; red where its scheme has none."""
    marked = [one for one in targets if one.production and one.context]
    return {one.context: one.colors if one.colors in SCHEMES else "red" for one in marked}


def _build_start(selection: Selection, targets: Sequence[Settings] = ()) -> Start:
    part = selection.part or "streams"
    marks = [(f"scheme-{color}", name) for name, color in _find_production(targets).items()]
    marks += [("bad", "changes allowed")] * selection.allow_changes
    return Start(
        "jsctl report",
        part=part,
        filter=selection.filter,
        sort=find_grid_key(part, selection.sort),
        faults=selection.problems,
        marks=marks,
        allows_changes=selection.allow_changes,
        asked=tuple(LISTED),
    )
