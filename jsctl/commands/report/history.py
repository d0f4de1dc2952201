"""`jsctl report history`."""

import contextlib
from pathlib import Path

from jsctl.base.files import write_output
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.env import Env
from jsctl.monitor.report.recording import is_recording
from jsctl.monitor.report.replay import Replay
from jsctl.spark.rollup import history as stored
from jsctl.spark.rollup.recorded import roll_up_recording
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import HadoopPath
from jsctl.views.report import history as view
from jsctl.views.result import Result


@command(
    "history",
    columns=(),
    examples=[
        "jsctl report history --from reports",
        "jsctl report history --from reports --daily --since 30d --stream 'ORDERS*'",
        "jsctl report history --from today.jsctl --since 6h",
        "jsctl report history --from reports --html history.html",
    ],
)
@option(
    "--from",
    "source",
    metavar="PATH",
    required=True,
    help="Folder or URI of exported reports, or of a rollup; or a file that jsctl report --record wrote",
)
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option(
    "--since",
    metavar="TIME",
    help="Start at this time: 2026-11-21, 2026-11-21T06:00:00Z, or 7d for 7 days ago",
)
@option("--until", metavar="TIME", help="End before this time")
@option("--hourly/--daily", default=True, help="The time that each point of the plots covers (hourly)")
@option("--html", metavar="FILE", help="Write one HTML page instead; - is stdout")
@spark_options
def history(
    env: Env,
    source: str,
    pattern: str,
    since: str | None,
    until: str | None,
    hourly: bool,
    html: str | None,
    spark: SparkOptions,
) -> Result:
    """Show the result of jsctl export rollup, or recorded rounds rolled up in the same way. All times are in
    UTC.
    """
    first = parse_time_flag(env, "--since", since)
    end = parse_time_flag(env, "--until", until)
    place = parse_place(source, "--from")
    daily = not hourly
    if isinstance(place, Path) and is_recording(place):
        reports = roll_up_recording(Replay(place), daily=daily, since=first, until=end, pattern=pattern)
        rollups = stored.History(daily, reports, [])
    else:
        with contextlib.ExitStack() as stack:
            connected = place
            if isinstance(place, HadoopPath):  # what is on this machine needs no JVM
                session = spark.prepare("jsctl report history", place)
                connected = place.connect(stack.enter_context(session.open()))
            rollups = stored.load(connected, daily=daily, since=first, until=end, pattern=pattern)
    from jsctl.render.plot import draw_sparkline

    series = view.series(rollups.reports, rollups.daily)
    tables = view.tables(rollups.reports, rollups.movers, rollups.daily, draw_sparkline)
    if not html or not tables:
        data = {"period": "day" if daily else "hour", **rollups.reports, "movers": rollups.movers}
        return view.history(series, tables, data)
    from jsctl.render.page import build_page

    document = build_page(view.PAGE_TITLE, view.page_note(place.name, env.clock()), series, tables)
    if html != "-":
        write_output(html, document)
    return view.page_written(str(expand_home(html)), document)
