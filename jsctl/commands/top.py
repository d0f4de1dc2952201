"""`jsctl top`."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass

import click

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.units import SECOND, format_bytes, format_count, format_duration, pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import INTERVAL, argument, command, option
from jsctl.commands.options.watch import check_screen, watch_results
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.requests import Json
from jsctl.monitor.server.top import SORTS, ServerLoad, Top, TopRow
from jsctl.views.events import Events
from jsctl.views.result import Column, Kind, Result, Text, build_table


def _show_top(
    load: ServerLoad, rows: Sequence[TopRow], *, raw: bool, subscriptions: bool, closed: bool
) -> Result:
    """Show connections below what their servers do.

    raw: bytes as digits. subscriptions: with their subjects. closed: with why they have ended.
    """
    columns = _columns(raw, subscriptions, closed)
    table = build_table("Connections", columns, rows, empty="there are no connections")
    document = {"server": _record(load), "connections": table.records()}
    return Result([Text("\n".join(_build_summary(load, raw))), table], data=document)


def _columns(raw: bool, subscriptions: bool, closed: bool) -> list[Column]:
    size: Kind = "number" if raw else "bytes"
    return [
        Column("Host", "host", hideable=2),
        Column("CID", "cid", "number"),
        Column("Name", "name", optional=True),
        Column("Server", "server", hideable=1),
        Column("Account", "account", hideable=9),
        Column("Subs", "subs", "count"),
        Column("Pending", "pending", size, hideable=3),
        Column("Msgs To", "msgs_to", "count", hideable=4),
        Column("Msgs From", "msgs_from", "count", hideable=5),
        Column("Bytes To", "bytes_to", size, hideable=7),
        Column("Bytes From", "bytes_from", size, hideable=8),
        Column("To Rate", "msgs_to_rate", "rate"),
        Column("From Rate", "msgs_from_rate", "rate"),
        Column("Bytes To/s", "bytes_to_rate", size, hideable=10),
        Column("Bytes From/s", "bytes_from_rate", size, hideable=11),
        Column("RTT", "rtt", "duration", hideable=13),
        Column("Idle", "idle", "ago", hideable=6),
        Column("Uptime", "uptime", "ago", hideable=15),
        Column("Lang", "lang", hideable=14),
        Column("Version", "version", hideable=16),
        *([Column("Reason", "reason")] if closed else []),
        *([Column("Subscriptions", "subjects", "prose", hideable=12)] if subscriptions else []),
    ]


def _build_summary(load: ServerLoad, raw: bool) -> list[str]:
    def size(value: float) -> str:
        return str(round(value)) if raw else format_bytes(round(value))

    in_rate, out_rate, in_bytes, out_bytes = load.rates
    servers = len(load.names)
    heading = f"Server {load.names[0]}" if servers == 1 else pluralize(servers, "server")
    return [
        f"{heading}, version {load.version}, up {format_duration(load.uptime)},"
        f" {pluralize(load.connections, 'connection')}",
        f"CPU {load.cpu:.1f}% of {pluralize(load.cores, 'core')}, memory {format_bytes(load.mem)},"
        f" slow consumers {format_count(load.slow_consumers)}",
        f"In:  {pluralize(load.in_msgs, 'message')}, {size(load.in_bytes)}; per second {in_rate:,.1f},"
        f" {size(in_bytes)}",
        f"Out: {pluralize(load.out_msgs, 'message')}, {size(load.out_bytes)}; per second {out_rate:,.1f},"
        f" {size(out_bytes)}",
    ]


def _record(load: ServerLoad) -> Json:
    in_rate, out_rate, in_bytes, out_bytes = load.rates
    return {
        "names": list(load.names),
        "version": load.version,
        "uptime_ns": load.uptime,
        "cpu": load.cpu,
        "cores": load.cores,
        "mem": load.mem,
        "slow_consumers": load.slow_consumers,
        "connections": load.connections,
        "in_msgs": load.in_msgs,
        "out_msgs": load.out_msgs,
        "in_bytes": load.in_bytes,
        "out_bytes": load.out_bytes,
        "in_msgs_rate": round(in_rate, 3),
        "out_msgs_rate": round(out_rate, 3),
        "in_bytes_rate": round(in_bytes, 3),
        "out_bytes_rate": round(out_bytes, 3),
    }


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
        return _show_top(load, rows, raw=options.raw, subscriptions=options.subs, closed=closed)

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
