"""`jsctl server watch jetstream`."""

import time

from jsctl.commands.cli import command
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.commands.server.watch.flags import ranking_flags
from jsctl.env import Env
from jsctl.monitor.server.requests import fetch_servers
from jsctl.monitor.server.watching import Rounds, build_jetstream_rows
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.server import watch as view


@command(
    "jetstream",
    columns=view.JETSTREAM,
    examples=[
        "jsctl server watch jetstream",
        "jsctl server watch jetstream --number 10 --every 5s",
        "jsctl server watch jetstream --count 1 --json",
    ],
)
@ranking_flags(view.JETSTREAM_SORTS, "assets")
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
        return view.jetstream(build_jetstream_rows(replies, rounds), order, number)

    return watch_results(fetch, every, count)
