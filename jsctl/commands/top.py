"""`jsctl top`."""

import io
import time
from dataclasses import dataclass

import click

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import INTERVAL, argument, command, option
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.top import SORTS, Top
from jsctl.views.events import Events
from jsctl.views.result import Result
from jsctl.views.server import top as view


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `top`. name: of the server. interval: ns."""

    name: str
    conns: int
    interval: int
    sort: str
    lookup: bool
    output: str
    delimiter: str
    raw: bool
    max_refresh: int
    subs: bool

    def __post_init__(self) -> None:
        if self.delimiter and not self.output:
            raise BadInput("--delimiter needs --output", "it separates the file's columns")
        if len(self.delimiter) > 1:
            raise BadInput("--delimiter takes one character")


@command(
    "top",
    columns=(),
    examples=[
        "jsctl top n1",
        "jsctl top --sort bytes_to --conns 20",
        "jsctl top n1 --output - --delimiter ,",
    ],
)
@argument("name", metavar="[SERVER]", required=False, default="")
@option("--conns", "-n", type=click.IntRange(min=1), default=1024, help="Connections of each server (1024)")
@option("--interval", "-d", type=INTERVAL, default=SECOND, metavar="SECONDS", help="Time between rounds (1)")
@option(
    "--sort", type=click.Choice(SORTS), default="cid", help="What servers sort their connections by (cid)"
)
@option("--lookup", is_flag=True, help="Look up the host names of addresses")
@option(
    "--output",
    "-o",
    metavar="FILE",
    default="",
    help="Write the first round to a file, - for stdout, and end",
)
@option("--delimiter", metavar="CHARACTER", default="", help="Column separator of the file")
@option("--raw", "-b", is_flag=True, help="Show exact numbers of bytes")
@option(
    "--max-refresh",
    "-r",
    type=int,
    default=-1,
    metavar="N",
    help="End after this many rounds; -1 is unlimited",
)
@option("--subs", is_flag=True, help="Show the subjects of subscriptions")
async def top(env: Env, options: Options) -> Events[Result] | Result | None:
    """Show the connections of a server, or of all servers, and what they send and receive, on a screen with
    keys until q; --as plain writes a table per round. SERVER is a name or an ID. A login of the system
    account is needed.
    """
    count = options.max_refresh if options.max_refresh > 0 else None
    check_screen(env, options.interval, count or (1 if options.output else None), "--interval")
    connection = await env.connection()
    connections = Top(
        connection,
        options.name,
        limit=options.conns,
        order=options.sort,
        subscriptions=options.subs,
        lookup=options.lookup,
        clock=time.monotonic,
    )
    closed = options.sort in ("stop", "reason")

    async def fetch() -> Result:
        load, rows = await connections.fetch()
        return view.top(load, rows, raw=options.raw, subscriptions=options.subs, closed=closed)

    if not options.output:
        return watch_results(fetch, options.interval, count)
    result = await fetch()
    if options.output == "-" and not options.delimiter:
        return result
    _write(env, options, _render_text(result, options.delimiter))
    return None


def _render_text(result: Result, delimiter: str) -> str:
    """Return a round as text."""
    from jsctl.render import delimited
    from jsctl.render.emit import emit

    out = io.StringIO()
    if delimiter:
        delimited.write(result, out, delimited.Delimiters(delimiter, False))
    else:
        emit(result, out, "plain")
    return out.getvalue()


def _write(env: Env, options: Options, text: str) -> None:
    if options.output == "-":
        env.streams.stdout.write(text)
        return
    path = expand_home(options.output)
    with naming_write_errors(path):
        write_atomically(path, text, mode=None)
