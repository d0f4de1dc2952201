"""`jsctl server roll`."""

from collections.abc import Sequence

from jsctl.base.loops import enter_event_loop
from jsctl.base.units import join_some, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.idle import find_time_limit
from jsctl.env import Env
from jsctl.errors import ExitStatus, NotFound
from jsctl.jetstream.api import Api
from jsctl.jetstream.waiting import wait_until
from jsctl.monitor.server.roll import RollingServer, fetch_rolling_servers
from jsctl.views.result import Cell, Column, Result, Table, Text

_COLUMNS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Domain", "domain"),
    Column("May Go", "may_go", "bool"),
    Column("Leads", "leads", "count"),
    Column("Meta Leader", "meta_leader", "bool"),
    Column("Only Copies", "only_copies", "count"),
    Column("Uptime", "uptime"),
    Column("Waits For", "waits", "prose"),
)


def _show(rows: Sequence[RollingServer], server: str) -> Result:
    """Show servers in the order of restarts. The status is 1 if the one that was named may not go; without a
    name, if none may."""
    lines = [
        (
            row.server,
            row.cluster,
            row.domain,
            Cell(not row.waits, "no" if row.waits else "yes", "warn" if row.waits else "good"),
            row.leads,
            row.is_meta_leader,
            row.alone,
            row.uptime,
            Cell([*row.waits], join_some(row.waits, 3, "; ")),
        )
        for row in rows
    ]
    free = [row for row in rows if not row.waits]
    which = f"server {server}" if server else "a server"
    if not free:
        said = Text(f"{which[:1].upper()}{which[1:]} must not be restarted now", "warn")
    else:
        alone = pluralize(free[0].alone, "stream") if free[0].alone else ""
        away = f"; {alone} without replicas will be away until it is back" if alone else ""
        said = Text(f"{free[0].server} may be restarted now{away}", "good")
    status = ExitStatus.OK if free else ExitStatus.FAILURE
    return Result([Table("Rolling Restart", _COLUMNS, lines), said], status=status)


@command(
    "roll",
    columns=_COLUMNS,
    examples=["jsctl server roll", "jsctl server roll n2 --wait --timeout 10m"],
)
@argument("name", metavar="[SERVER]", default="")
@option("--wait", is_flag=True, help="Wait until the server may be restarted, or for --timeout")
async def roll(env: Env, name: str, wait: bool) -> Result:
    """Show the order of a rolling restart, and which server may be restarted now: all other servers of its
    domain are there and healthy, and all other replicas of the streams and consumers that it holds are
    current. The status is 0 if SERVER, or without one any, may go, and 1 if not; with --wait, 4 after
    --timeout. Nothing is restarted and no leader is moved. A login of the system account is needed.
    """
    await enter_event_loop()
    api = await env.jetstream()

    async def fetch(api: Api) -> Sequence[RollingServer]:
        rows = await fetch_rolling_servers(api.connection)
        return [row for row in rows if name in ("", row.server)]

    def describe_missing(rows: Sequence[RollingServer]) -> str:
        if not rows:
            return f"server {name} does not answer"
        return "" if any(not row.waits for row in rows) else join_some(rows[0].waits, 3, "; ")

    if wait:
        rows = await wait_until(
            fetch, describe_missing, api, limit=find_time_limit(env), report=env.show_status
        )
    else:
        rows = await fetch(api)
    if not rows:
        raise NotFound(f"no server {name!r} with JetStream answers", "jsctl server roll lists them")
    return _show(rows, name)
