"""Rounds of `jsctl report --watch`."""

from collections.abc import AsyncIterator, Callable, Sequence

from jsctl.monitor.report.rounds import Round
from jsctl.monitor.report.rows import DomainState, Sort
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.units import exact_duration
from jsctl.views.events import Events, one_by_one
from jsctl.views.report import report, spark_queries
from jsctl.views.report.panes import Pane, PaneStack
from jsctl.views.result import Result


def events(
    rounds: AsyncIterator[Round],
    snapshot: Callable[[Sequence[DomainState]], Result],
    *,
    sort: Sort,
    interval: int,
    count: int | None,
    scheme: str,
    clock: Callable[[], float],
    queries: Callable[[], Sequence[SparkQuery] | None] = lambda: None,
) -> Events[Round]:
    """Return rounds, each with its views.

    snapshot: a round where there is no live screen. interval: ns between rounds. count: how many are wanted,
    None for no end. scheme: the colours of borders. queries: fetches those of Spark, None where they are not
    wanted.
    """
    every = exact_duration(interval)
    panes: dict[int, tuple[object, Pane]] = {}

    def picture(current: Round) -> PaneStack:
        for at, state in enumerate(current.states):
            # One answer changes one pane; with 10,000 streams a pane takes a third of a second.
            known = (report.title(state), state.at, state.error)
            if at not in panes or panes[at][0] != known:
                panes[at] = known, report.pane(state, sort)
        shown = [panes[at][1] for at in range(len(current.states))]
        if (spark := queries()) is not None:
            shown.append(spark_queries.pane(spark, clock()))
        return PaneStack(report.heading(clock(), every), shown, scheme)

    return Events(
        batches=one_by_one(rounds),
        record=lambda current: report.document(current.states, clock(), queries()),
        snapshot=lambda current: snapshot(current.states),
        picture=picture,
        limit=count or 0,
        counts=lambda current: current.completed,
        noun="round",
        endless=True,
    )
