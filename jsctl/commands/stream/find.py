"""`jsctl stream find`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.stream.criteria import STREAM_CRITERIA, matching_streams
from jsctl.env import Env
from jsctl.jetstream.find.criteria import StreamCriteria
from jsctl.jetstream.paging import Collected
from jsctl.views.events import Events, items, names
from jsctl.views.result import Result, Text
from jsctl.views.stream import ls as view


@command(
    "find",
    examples=[
        "jsctl stream find --empty --created 30d",
        "jsctl stream find --idle 1h --invert --names",
        "jsctl stream find --expression 'state.messages > 10 and config.storage == \"memory\"'",
        'jsctl stream find --expression \'info.cluster.name in ["lon", "sfo"]\'',
    ],
)
@STREAM_CRITERIA.add
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one a line")
async def find(env: Env, criteria: StreamCriteria, names_only: bool) -> Result | Events[Any]:
    """--expression takes a condition over config, state and info, as `stream info --json` has them: or ||
    and && not ! == != < <= > >= in contains startsWith endsWith matches + - * / % len(x), lists, a.b,
    a["b"], true, false, nil. What the server leaves out counts as zero, empty or false.
    """
    pages = matching_streams(env, await env.jetstream(), criteria)
    if names_only:
        return names([info["config"]["name"] for info in page] async for page in pages)
    if env.wants_json:
        return items(pages, lambda info: str(info["config"]["name"]))
    now = env.clock()
    rows = {info["config"]["name"]: view.list_row(info, now) async for page in pages for info in page}
    return view.listing(Collected(rows)) if rows else Result([Text("No Streams found")])
