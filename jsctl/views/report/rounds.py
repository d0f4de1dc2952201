"""Rounds of `jsctl report --watch` if there is no screen."""

from collections.abc import AsyncIterator, Callable, Sequence

from jsctl.monitor.report.places import Round
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.views.events import End, Events, Presentation, one_by_one
from jsctl.views.report import report
from jsctl.views.report.choice import Choice
from jsctl.views.result import Result


def events(
    rounds: AsyncIterator[Round],
    snapshot: Callable[[Round], Result],
    *,
    count: int | None,
    clock: Callable[[], float],
    choice: Choice,
    queries: Callable[[], Sequence[SparkQuery] | None] = lambda: None,
    sort: str = "name",
) -> Events[Round]:
    """Return rounds, each with its views.

    snapshot: a round for people. count: how many; None for no end. choice: of rows. queries: fetches those of
    Spark; None when they are not shown.
    """
    return Events(
        batches=one_by_one(rounds),
        shown=Presentation(
            record=lambda current: report.document(
                current.places, current.at or clock(), queries(), choice, sort
            ),
            snapshot=snapshot,
        ),
        end=End(limit=count or 0, noun="round", endless=True),
    )
