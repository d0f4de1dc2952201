"""`jsctl server report downgrade`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import WATCH, Report
from jsctl.commands.server.report.flags import ARCHIVE, Flags, Json, report_answers
from jsctl.env import Env
from jsctl.monitor.server.downgrade import find_incompatible
from jsctl.monitor.server.requests import fetch_details
from jsctl.views.result import Result
from jsctl.views.server import downgrade as view


@command(
    "downgrade",
    columns=view.STREAMS,
    examples=["jsctl server report downgrade 1", "jsctl server report downgrade 0 --all --json"],
)
@argument("api", type=click.IntRange(min=0))
@option("--all", "with_all", is_flag=True, help="Also the other consumers of streams that need more")
@option(*WATCH[0], into="servers", **WATCH[1])
@option(*ARCHIVE[0], into="servers", **ARCHIVE[1])
async def downgrade(env: Env, api: int, with_all: bool, servers: Flags) -> Report:
    """Take API as the level of the version to go back to, as jsctl server info shows it: 0 for nats-server
    2.10, 1 for 2.11, 2 for 2.12, 4 for 2.14, 5 for 2.15. A login of the system account is needed.
    """

    def show(replies: Sequence[Json]) -> Result:
        return view.downgrade(*find_incompatible(replies, api, with_all=with_all), api)

    return await report_answers(env, "JSZ", servers, fetch_details, show)
