"""`jsctl server report connections`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Json
from jsctl.jetstream.find.expression import compile_expression
from jsctl.monitor.server.reports import STATES, build_connection_request, build_connection_rows
from jsctl.views.result import Result
from jsctl.views.server import reports as view


@command(
    "connections",
    columns=view.CONNECTIONS,
    examples=["jsctl server report connections", "jsctl server report connections --account APP --top 10"],
)
@option("--account", metavar="ACCOUNT", default="", help="Only this account, by name or ID")
@option("--sort", "order", type=click.Choice(view.CONNECTION_SORTS), default="subs", help="Sort by this")
@option("--top", type=click.IntRange(min=1), default=1000, help="Only this many, the largest (1000)")
@option("--subject", metavar="SUBJECT", default="", help="Only connections that subscribe to this subject")
@option("--username", metavar="USER", default="", help="Only connections of this user")
@option("--state", type=click.Choice(list(STATES)), default="open", help="Only connections in this state")
@option("--closed-reason", metavar="REASON", default="", help="Only those that were closed for this reason")
@option("--filter", "expression", metavar="EXPRESSION", default="", help="Only those for which this is true")
@report_flags
async def connections(
    env: Env,
    limit: int | None,
    account: str,
    order: str,
    top: int,
    subject: str,
    username: str,
    state: str,
    closed_reason: str,
    expression: str,
    servers: Flags,
) -> Report:
    """Filter by EXPRESSION, in the language of jsctl stream find --expression, over the fields of a
    connection as jsctl server request connections shows them: "in_msgs > 1000 && lang == 'go'".

    Stop waiting once LIMIT servers have answered.
    """

    def choose(rows: list[Json]) -> list[Json]:
        try:
            matches = compile_expression(expression) if expression else None
            return [row for row in rows if matches is None or matches(row)]
        except ValueError as error:
            raise BadInput(f"--filter {expression!r}: {error}") from None

    choose([])  # raises for what is no expression
    state = "closed" if closed_reason and state == "open" else state

    def show(replies: list[dict[str, object]]) -> Result:
        rows = choose(build_connection_rows(replies, account))
        if closed_reason:
            rows = [row for row in rows if closed_reason.lower() in str(row.get("reason", "")).lower()]
        if not rows and env.mirrors_nats:  # NOTHING_FOUND
            raise NotFound("the servers have no such connections")
        return view.connections(rows, order, is_reversed(env), top, closed=state != "open")

    body = build_connection_request(account=account, subject=subject, user=username, state=state)
    return await report(env, "CONNZ", body, limit, servers, lambda replies: show(list(replies)))
