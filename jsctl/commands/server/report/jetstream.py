"""`jsctl server report jetstream`."""

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.polling import fetch_again
from jsctl.monitor.server import requests
from jsctl.units import MS
from jsctl.views.events import Events, repeated
from jsctl.views.result import Result
from jsctl.views.server import servers as view


@command(
    "jetstream",
    examples=[
        "jsctl server report jetstream --user admin --password admin",
        "jsctl server report jetstream --account ACC --sort msgs",
    ],
)
@argument("limit", type=click.IntRange(min=1), required=False)
@option("--account", metavar="ACCOUNT", default="", help="Report on this account")
@option("--sort", "order", type=click.Choice(list(view.SORTS)), default="cluster", help="Sort by this")
@option("--compact/--no-compact", default=True, help="Leave out the domain that all server names share")
@option("--leaders", "-l", is_flag=True, help="Show how many streams and consumers each server leads")
@option("--host", metavar="NAME", default="", help="Only this server")
@option("--cluster", metavar="CLUSTER", default="", help="Only servers of this cluster")
@option("--tags", metavar="TAG", multiple=True, help="Only servers with this tag; may be repeated")
@option("--watch", type=DURATION, metavar="INTERVAL", help="Repeat it every INTERVAL until ctrl-C or q")
async def jetstream(
    env: Env,
    limit: int | None,
    account: str,
    order: str,
    compact: bool,
    leaders: bool,
    host: str,
    cluster: str,
    tags: tuple[str, ...],
    watch: int | None,
) -> Result | Events[Result]:
    """LIMIT ends the wait once that many servers have answered."""
    if watch is not None and watch < 100 * MS:
        raise BadInput("--watch takes 100ms or more")
    connection = await env.connection()
    servers = requests.Filter(host, cluster, tags)
    report = view.JetStreamReport(
        account=account,
        order=order,
        reverse=bool(env.flags.get("reverse")),
        compact=compact,
        leaders=leaders,
        partial=bool(host or cluster or tags or limit),
    )

    async def fetch() -> Result:
        replies = await requests.fetch_jetstream(connection, account=account, only=servers, expect=limit or 0)
        return view.jetstream_report(replies, report)

    return await fetch() if watch is None else repeated(fetch_again(fetch, watch))
