"""`jsctl stream ls`."""

from functools import partial

from jsctl.commands.cli import command, option
from jsctl.commands.picking.system_streams import ShownNames, list_shown
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.views.events import Events, names
from jsctl.views.result import Result
from jsctl.views.stream import ls as view


@command(
    "ls", columns=view.COLUMNS, examples=["jsctl stream ls", "jsctl stream ls --subject 'ORDERS.*' --names"]
)
@option("--subject", metavar="SUBJECT", default="", help="Only streams that store messages on this subject")
@option(
    "--names", "-n", "names_only", is_flag=True, help="Only names, one per line: all, those of buckets, too"
)
async def ls(env: Env, subject: str, names_only: bool) -> Result | Events[str]:
    api = await env.jetstream()
    if names_only or env.wants_json:
        pages = streams.list_name_pages(api, subject)
        return names(pages if names_only else list_shown(env, pages, str))
    collected = await streams.collect(api, partial(view.list_row, now=env.clock()), subject=subject)
    shown_names = ShownNames(env)
    rows = {name: row for name, row in collected.items.items() if name in shown_names}
    if rows:
        shown_names.report_hidden()
    return view.listing(collected._replace(items=rows), subject=subject, hidden=bool(shown_names.hidden))
