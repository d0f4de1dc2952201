"""`jsctl server watch servers`, `accounts` and `jetstream`."""

import time

from jsctl.commands.cli import command
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.commands.server.watch.flags import ranking_flags
from jsctl.env import Env
from jsctl.monitor.server.requests import count_servers, fetch_servers, ping_account
from jsctl.monitor.server.watching import Rounds, build_account_rows, build_jetstream_rows, build_server_rows
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.server import watch as view
from jsctl.views.shared.orders import list_orders


@command(
    "servers",
    columns=view.SERVERS,
    examples=[
        "jsctl server watch servers",
        "jsctl server watch servers --number 10 --every 5s",
        "jsctl server watch servers --count 1 --json",
    ],
)
@ranking_flags(list_orders(view.SERVERS), "conns")
async def servers(env: Env, order: str, number: int, every: int, count: int | None) -> Events[Result]:
    """Ask the servers in each round; rates are messages per second since the round before. On a terminal,
    this is a screen with keys until q; --as plain writes a table per round. A login of the system account is
    needed.
    """
    check_screen(env, every, count)
    connection = await env.connection()
    rounds = Rounds(time.monotonic)

    async def fetch() -> Result:
        replies = [reply for reply, _ in await fetch_servers(connection)]
        return view.show_largest("Servers", view.SERVERS, build_server_rows(replies, rounds), order, number)

    return watch_results(fetch, every, count)


@command(
    "accounts",
    columns=view.ACCOUNTS,
    examples=[
        "jsctl server watch accounts",
        "jsctl server watch accounts --number 10 --every 5s",
        "jsctl server watch accounts --count 1 --json",
    ],
)
@ranking_flags(list_orders(view.ACCOUNTS), "conns")
async def accounts(env: Env, order: str, number: int, every: int, count: int | None) -> Events[Result]:
    """Add up what all servers report about each account. SERVERS is the number of servers that know it. On a
    terminal, this is a screen with keys until q; --as plain writes a table per round. A login of the system
    account is needed.
    """
    check_screen(env, every, count)
    connection = await env.connection()
    rounds = Rounds(time.monotonic)

    async def fetch() -> Result:
        replies = await ping_account(
            connection, "STATZ", {"include_unused": True}, expect=await count_servers(connection)
        )
        return view.show_largest(
            "Accounts", view.ACCOUNTS, build_account_rows(replies, rounds), order, number
        )

    return watch_results(fetch, every, count)


@command(
    "jetstream",
    columns=view.JETSTREAM,
    examples=[
        "jsctl server watch jetstream",
        "jsctl server watch jetstream --number 10 --every 5s",
        "jsctl server watch jetstream --count 1 --json",
    ],
)
@ranking_flags(list_orders(view.JETSTREAM), "assets")
async def jetstream(env: Env, order: str, number: int, every: int, count: int | None) -> Events[Result]:
    """Mark the leader of the meta group with a star; it knows when the meta group's state was last saved. On
    a terminal, this is a screen with keys until q; --as plain writes a table per round. A login of the system
    account is needed.
    """
    check_screen(env, every, count)
    connection = await env.connection()
    rounds = Rounds(time.monotonic)

    async def fetch() -> Result:
        replies = [reply for reply, _ in await fetch_servers(connection)]
        rows = build_jetstream_rows(replies, rounds)
        return view.show_largest("JetStream Servers", view.JETSTREAM, rows, order, number)

    return watch_results(fetch, every, count)
