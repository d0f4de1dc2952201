"""`jsctl report history`."""

from datetime import datetime
from pathlib import Path

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.files import write_output
from jsctl.spark.rollup import history as stored
from jsctl.spark.session.folders import parse_folder
from jsctl.units import parse_past_time, seconds_to_ns, to_datetime
from jsctl.views.report import history as view
from jsctl.views.result import Chart, Result, Table, Text

_HEIGHT = 5


@command(
    "history",
    examples=[
        "jsctl report history --from reports",
        "jsctl report history --from reports --daily --since 30d --stream 'ORDERS*'",
        "jsctl report history --from reports --html history.html",
    ],
)
@option("--from", "source", metavar="DIR", required=True, help="Folder of exported reports, or of a rollup")
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option(
    "--since",
    metavar="TIME",
    help="Show what was after this time: 2026-11-21, 2026-11-21T06:00:00Z, or 7d for 7 days ago",
)
@option("--until", metavar="TIME", help="Show what was before this time")
@option("--hourly/--daily", default=True, help="The time that each point of the plots covers (hourly)")
@option("--html", metavar="FILE", help="Write one HTML page instead")
def history(
    env: Env,
    source: str,
    pattern: str,
    since: str | None,
    until: str | None,
    hourly: bool,
    html: str | None,
) -> Result:
    """Shows the result of jsctl export rollup. All times are in UTC."""
    first, end = _time(env, "--since", since), _time(env, "--until", until)
    path = parse_folder(source, "--from")
    rollups = stored.load(path, daily=not hourly, since=first, until=end, pattern=pattern)
    from jsctl.render.plot import sparkline

    charts = view.series(rollups.reports, rollups.daily)
    tables = view.tables(rollups.reports, rollups.movers, rollups.daily, sparkline)
    data = {"period": "hour" if hourly else "day", **rollups.reports, "movers": rollups.movers}
    if not tables:
        return Result([Text("nothing was sampled in that time")], data)
    if html:
        return _page(env, Path(html).expanduser(), path, charts, tables)
    plots = [Chart(_caption(chart), chart.values, "dots", _HEIGHT) for chart in charts]
    return Result([*plots, *tables], data)


def _caption(chart: view.Series) -> str:
    from jsctl.render.text import show

    known = [value for value in chart.values if value is not None]
    first, last = (f"{at:%m-%d %H:%M}" for at in (chart.times[0], chart.times[-1]))
    most, now = show(round(max(known)), chart.kind), show(round(known[-1]), chart.kind)
    return f"{chart.title}, {first} to {last}: {now}, at most {most}"


def _page(env: Env, file: Path, source: Path, charts: list[view.Series], tables: list[Table]) -> Result:
    from jsctl.render.page import page

    created = to_datetime(seconds_to_ns(env.clock()))
    text = page("JetStream history", f"From {source.name}, made {created:%Y-%m-%d %H:%M} UTC", charts, tables)
    write_output(str(file), text)
    return Result([Text(f"wrote {file} ({len(text.encode()):,} bytes)")], {"file": str(file)})


def _time(env: Env, flag: str, text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        return to_datetime(parse_past_time(text, seconds_to_ns(env.clock())))
    except ValueError:
        raise BadInput(f"{flag} {text!r} is not a time", "write 2026-11-21, or 7d for 7 days ago") from None
