"""`jsctl account report statistics`."""

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.monitor.server.requests import ping_account
from jsctl.views.account import statistics as view
from jsctl.views.result import Result


@command(
    "statistics",
    columns=view.COLUMNS,
    examples=["jsctl account report statistics", "jsctl account report statistics --watch 5s"],
)
@option(*WATCH[0], **WATCH[1])
async def statistics(env: Env, watch: int | None) -> Report:
    """Ask as the account itself; a login of the system account is not needed. Servers without a connection of
    the account do not answer.
    """
    check_interval(watch)
    connection = await env.connection()

    async def fetch() -> Result:
        return view.statistics(await ping_account(connection, "STATZ"))

    return await fetch_or_watch(fetch, watch)
