"""The parts of `jsctl report --watch`: streams, consumers, replication, servers, accounts, problems, and what
is fetched only where it is shown. Pure."""

from collections.abc import Sequence

from jsctl.base.units import format_clock, seconds_to_ns
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.views.board import Board, Grid, Part, table_to_grid
from jsctl.views.report import list_grids, listings, problem_grid, spark_queries
from jsctl.views.report.grid_cells import age_words
from jsctl.views.result import Text

_OLD = 5.0  #: seconds after which the age of a part is shown


def board(
    places: Sequence[Place],
    now: float,
    number: int,
    queries: Sequence[SparkQuery] | None = None,
    listing: str | None = None,
) -> Board:
    """Return the board of a round. now: seconds since 1970. queries: Spark's; None when they were not asked
    for. listing: which of LISTED is shown; None where there are none.
    """

    def count(list_name: str) -> int | None:
        known = [rows for place in places if (rows := getattr(place.tracker, list_name)) is not None]
        return sum(map(len, known)) if known else None

    parts = [
        Part("streams", "Streams", lambda: list_grids.streams(places), count("streams")),
        Part("consumers", "Consumers", lambda: list_grids.consumers(places), count("consumers")),
        Part("replication", "Replication", lambda: list_grids.links(places), count("links")),
        Part("servers", "Servers", lambda: list_grids.servers(places), count("servers")),
        Part("accounts", "Accounts", lambda: list_grids.accounts(places), count("accounts")),
        Part(
            "problems",
            "Problems",
            lambda: problem_grid.problems(places, now),
            sum(len(place.problems(now)) for place in places)
            if any(place.at is not None or place.error for place in places)
            else None,
            is_vital=True,
        ),
    ]
    if listing is not None:
        parts += listings.list_parts(places, now)
    if queries is not None:
        parts.append(Part("spark", "Spark", lambda: _build_spark_grid(queries, now)))
    titles = ", ".join(place.title for place in places[:4])
    if len(places) > 4:
        titles += f" and {len(places) - 4} more"
    heading = f"{titles}  {format_clock(seconds_to_ns(now))}"
    notices = _list_notices(places, now) + (listings.list_notices(places, listing) if listing else [])
    return Board(parts, heading, notices, number)


def _build_spark_grid(queries: Sequence[SparkQuery], now: float) -> Grid:
    pane = spark_queries.pane(queries, now)
    if not pane.tables:
        return Grid((), (), key=id, empty=pane.messages[0].text if pane.messages else pane.summary.text)
    return table_to_grid(pane.tables[0])


def _list_notices(places: Sequence[Place], now: float) -> list[Text]:
    notices = []
    for place in places:
        if place.error:
            since = f", its numbers are {age_words(now - place.at)} old" if place.at is not None else ""
            notices.append(Text(f"{place.title} {place.state}{since}: {place.error}", "bad"))
        notices += [
            Text(f"{place.title}: not checked: {gap.why}", "dim" if gap.is_chosen else "warn")
            for gap in place.tracker.gaps
        ]
        oldest = place.tracker.consumers_at
        if oldest is not None and now - oldest >= _OLD:
            notices.append(Text(f"{place.title}: consumers are up to {age_words(now - oldest)} old", "dim"))
    return notices
