"""`jsctl incident`."""

from jsctl.base.files import write_output
from jsctl.base.units import SECOND, to_ns
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.incident.story import build_story
from jsctl.monitor.report.replay import Replay
from jsctl.views.report import incident as view
from jsctl.views.report.history import page_written
from jsctl.views.result import Result


@command(
    "incident",
    columns=(),
    examples=[
        "jsctl incident --from today.jsctl",
        "jsctl incident --from today.jsctl --between 2026-11-21T06:50:00Z 2026-11-21T07:10:00Z",
        "jsctl incident --from today.jsctl --between 2h 1h --html incident.html",
        "jsctl incident --from today.jsctl --json",
    ],
)
@option("--from", "source", metavar="FILE", required=True, help="Recording of jsctl report --record")
@option(
    "--between",
    nargs=2,
    metavar="T1 T2",
    help="Only this time: 2026-11-21T06:00:00Z, or 2h for 2 hours ago",
)
@option(
    "--before",
    type=DURATION,
    default=30 * SECOND,
    metavar="DURATION",
    help="How long before something begins changes are shown with it (30s)",
)
@option("--html", metavar="FILE", help="Write one HTML page with graphs instead; - is stdout")
async def incident(
    env: Env, source: str, between: tuple[str, str] | None, before: int, html: str | None
) -> Result:
    """Compare the rounds of a recording, and tell what began when, what changed in the time before, and what
    followed: problems, outages, leaders, restarts, configurations, streams and consumers that appeared or are
    gone, purges, lags that began to grow, bursts of messages, API errors, and what advisories tell of. What a
    server timed is ordered by its clock, less what that is ahead, which is shown. What changed before
    something is not said to be its cause. No server is asked.
    """
    if before < 0:
        raise BadInput("--before must be 0 or more")
    times = [parse_time_flag(env, "--between", text) for text in between or (None, None)]
    begin, end = (None if time is None else to_ns(time) for time in times)
    if begin is not None and end is not None and begin > end:
        raise BadInput("--between ends before it begins", "give the earlier time first")
    story = await build_story(Replay(expand_home(source)), begin, end, before)
    if not html:
        return view.show_story(story, source)
    from jsctl.render.page import build_page

    note = view.build_note(story, source)
    page = build_page(view.PAGE_TITLE, note, view.build_series(story), view.build_tables(story))
    if html != "-":
        write_output(html, page)
    return page_written(str(expand_home(html)), page)
