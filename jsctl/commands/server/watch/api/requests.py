"""`jsctl server watch api requests`."""

import time
from collections.abc import Sequence

import click

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import MINUTE, SECOND, format_exact_duration
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.commands.server.watch.flags import count_flag, every_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.api_requests import SUBJECT, RequestCounter, RequestRow
from jsctl.monitor.server.requests import count_servers
from jsctl.views.events import Events
from jsctl.views.result import Cell, Column, Result, Table
from jsctl.views.server.watch import format_title

_COLUMNS = (
    Column("Type", "type"),
    Column("Account", "account", hideable=1),
    Column("Count", "count", "count"),
    Column("", "recent", "count"),
    Column("Asset", "asset"),
)


def _show_requests(
    rows: Sequence[RequestRow], number: int, interval: int, *, reverse: bool, compact: bool
) -> Result:
    """Show requests to the JetStream API, the most frequent first. interval: ns, of `recent`."""
    ordered = sorted(rows, key=lambda row: (-row.recent, -row.count, row.asset))
    chosen = (ordered[::-1] if reverse else ordered)[:number]
    columns = tuple(
        column._replace(title=f"In {format_exact_duration(interval)}") if column.key == "recent" else column
        for column in _COLUMNS
    )
    lines = [
        (
            row.type,
            Cell(row.account, _shorten(row.account)) if compact else row.account,
            row.count,
            row.recent,
            Cell(row.asset, _shorten(row.asset, 40)) if compact else row.asset,
        )
        for row in chosen
    ]
    title = format_title("JetStream API Requests", len(chosen), len(rows))
    return Result([Table(title, columns, lines, empty="waiting for requests")])


def _shorten(name: str, width: int = 20) -> str:
    return name if len(name) <= width else f"{name[: width - 8]}...{name[-5:]}"


@command(
    "requests",
    columns=_COLUMNS,
    examples=[
        "jsctl server watch api requests",
        "jsctl server watch api requests --account '^APP$' --rate 10s",
    ],
)
@option("--account", metavar="REGEX", default="", help="Only accounts that match this regular expression")
@option("--top", "-n", type=click.IntRange(min=1), default=10, help="Show the N most frequent ones (10)")
@option("--rate", type=DURATION, default=MINUTE, metavar="DURATION", help="Period that rates cover (1m)")
@option("--record-consumer/--no-record-consumer", default=True, help="Count each consumer separately")
@option("--compact/--no-compact", default=True, help="Shorten long names of accounts, streams and consumers")
@option("--reverse", "-R", is_flag=True, help="The least frequent first")
@every_flag
@count_flag
async def requests(
    env: Env,
    account: str,
    top: int,
    rate: int,
    record_consumer: bool,
    compact: bool,
    reverse: bool,
    every: int,
    count: int | None,
) -> Events[Result]:
    """Count requests to the JetStream API of all accounts from now on. On a terminal, this is a screen with
    keys until q; --as plain writes a table per round. A login of the system account is needed.
    """
    if rate < SECOND:
        raise BadInput("--rate is too short", "use 1s or more")
    pattern = compile_pattern(account, flag="--account") if account else None
    check_screen(env, every, count)
    connection = await env.connection()
    await count_servers(connection)
    counter = RequestCounter(rate / SECOND, time.monotonic, account=pattern, consumers=record_consumer)
    await connection.listen(SUBJECT, counter.count_request)

    async def fetch() -> Result:
        return _show_requests(counter.rows(), top, rate, reverse=reverse, compact=compact)

    return watch_results(fetch, every, count)
