"""`jsctl server watch api requests`."""

import time

import click

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import MINUTE, SECOND
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.commands.server.watch.flags import count_flag, every_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.api_requests import SUBJECT, RequestCounter
from jsctl.monitor.server.requests import count_servers
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.server import watch as view


@command(
    "requests",
    columns=view.REQUESTS,
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
        return view.requests(counter.rows(), top, rate, reverse=reverse, compact=compact)

    return watch_results(fetch, every, count)
