"""`jsctl stream find`."""

from dataclasses import fields
from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.stream.criteria import (
    find_matching_streams,
    find_shown_streams,
    get_name,
    stream_criteria_flags,
)
from jsctl.env import Env
from jsctl.jetstream.find.criteria import NatsStreamCriteria, StreamCriteria
from jsctl.jetstream.paging import Collected
from jsctl.views.events import Events, items, names
from jsctl.views.result import Result
from jsctl.views.stream import ls as view


@command(
    "find",
    columns=view.COLUMNS,
    examples=[
        "jsctl stream find --empty --created 30d",
        "jsctl stream find --idle 1h --invert --names",
        "jsctl stream find --expression 'state.messages > 10 and config.storage == \"memory\"'",
        'jsctl stream find --expression \'info.cluster.name in ["lon", "sfo"]\'',
    ],
)
@stream_criteria_flags
@option(
    "--names", "-n", "names_only", is_flag=True, help="Only names, one per line: all, those of buckets, too"
)
async def find(env: Env, criteria: StreamCriteria, names_only: bool) -> Result | Events[Any]:
    """Filter with --expression by a condition over config, state and info, as `stream info --json` has them:
    or || and && not ! == != < <= > >= in contains startsWith endsWith matches + - * / % len(x), lists, a.b,
    a["b"], true, false, nil. What the server leaves out counts as zero, empty or false.
    """
    if env.mirrors_nats:  # FIND_SUBJECT
        given = {field.name: getattr(criteria, field.name) for field in fields(criteria)}
        criteria = NatsStreamCriteria(**given)
    api = await env.jetstream()
    if names_only:
        matching = find_matching_streams(env, api, criteria)
        return names([get_name(info) for info in page] async for page in matching)
    pages = find_shown_streams(env, api, criteria)
    if env.wants_json:
        return items(pages, get_name)
    now = env.clock()
    rows = {get_name(info): view.list_row(info, now) async for page in pages for info in page}
    return view.listing(Collected(rows), empty="No Streams found")
