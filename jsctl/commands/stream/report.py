"""`jsctl stream report`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from jsctl.base.files import write_output
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.monitor.origins import Report, fetch_report
from jsctl.monitor.report.figures.lists import build_recorder, list_own_figures
from jsctl.monitor.report.lines import LinkLine, StreamLine
from jsctl.monitor.stream.rows import ReplicationRow, build_link_key
from jsctl.views.result import LazySequence, Part, Result, Table
from jsctl.views.shared.figures import Line, build_columns
from jsctl.views.shared.leaders import leader_report
from jsctl.views.shared.orders import list_orders, sort_rows
from jsctl.views.shared.tables import unreachable_streams
from jsctl.views.shared.text import quote_for_dot

_STREAMS = tuple(build_columns("streams", "own"))
_SORTS = list_orders(_STREAMS)
"""Orders of the streams."""


def show_report(streams: Report, *, order: str = "bytes", raw: bool = False, leaders: bool = False) -> Result:
    """Show the report of `stream report`: streams, replication if there is any, leaders on request.

    order: a name in `sort` of a column; streams that are equal in it go by name. raw: show numbers in full.
    """
    if not streams.streams and not streams.missing and not streams.offline:
        table = _build_table("Stream Report", "streams", (), raw)._replace(empty="No Streams defined")
        return Result([table], data={"streams": [], "replication": []})
    by_name = sorted(streams.streams, key=lambda row: row.stream)
    lines = sort_rows([Line(StreamLine(row)) for row in by_name], _STREAMS, order)
    rows = [line.line.row for line in lines]
    places = {row.stream: index for index, row in enumerate(rows)} if streams.links else {}
    links = sorted(streams.links, key=lambda link: places.get(link.stream, len(places)))
    parts: list[Part] = [_build_table("Stream Report", "streams", lines, raw)]
    troubles = streams.troubles
    copies = [Line(LinkLine(link, troubles=troubles.get(build_link_key(link), ()))) for link in links]
    if links:
        parts.append(_build_table("Replication Report", "replication", copies, raw))
    if leaders:
        parts.append(
            leader_report([(row.cluster or "", row.leader) for row in rows if row.leader], "Streams")
        )
    parts.extend(unreachable_streams(streams.missing, streams.offline))
    return Result(
        parts,
        data=lambda: {
            "streams": _record("streams", lines),
            "replication": _record("replication", copies),
        },
    )


def _record(kind: str, lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of lines."""
    record = build_recorder(list_own_figures(kind))
    for line in lines:
        row = line.line.row
        yield {"context": row.context, "domain": row.domain, **record(line.line)}


def _build_table(title: str, kind: str, lines: Sequence[Line], raw: bool) -> Table:
    columns = build_columns(kind, "own", raw=raw)
    readers = [column.get for column in columns]
    rows = LazySequence(lines, lambda line: [read(line) for read in readers])
    return Table(title, columns, rows)


def _format_dot(links: Iterable[ReplicationRow]) -> str:
    """Return the replication as a GraphViz graph."""
    lines = ["digraph {", f"  label={quote_for_dot('Stream Replication Structure')};"]
    for link in links:
        color = "blue" if link.kind == "mirror" else "green"
        label = link.filters or link.kind.title()
        origin = f"{link.origin} ({link.api_prefix})" if link.api_prefix else link.origin
        edge = f"{quote_for_dot(origin)} -> {quote_for_dot(link.stream)}"
        lines.append(f"  {edge} [color={color}, label={quote_for_dot(label)}];")
    return "\n".join([*lines, "}"]) + "\n"


@command(
    "report",
    columns=_STREAMS,
    examples=[
        "jsctl stream report",
        "jsctl stream report --js-domain leaf --name",
        "jsctl s report --dot g.dot",
    ],
)
@option("--subject", metavar="SUBJECT", default="", help="Only streams that store messages on this subject")
@option("--cluster", metavar="CLUSTER", default="", help="Only streams in this cluster")
@option("--consumers", "-o", "order", flag_value="consumers", help="Sort by number of consumers")
@option("--messages", "-m", "order", flag_value="messages", help="Sort by number of messages")
@option("--name", "-n", "order", flag_value="name", help="Sort by name")
@option("--storage", "-t", "order", flag_value="storage", help="Sort by storage")
@option("--sort", "order", type=click.Choice(_SORTS), help="Sort by this")
@option("--raw", "-r", is_flag=True, help="Show exact numbers, without units or separators")
@option("--dot", metavar="FILE", help="Also write the replication as a GraphViz graph")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many streams")
async def report(
    env: Env, subject: str, cluster: str, order: str | None, raw: bool, dot: str | None, leaders: bool
) -> Result:
    """Sort by size, unless a flag says otherwise."""
    api = await env.jetstream()
    if env.form in ("table", "plain"):
        env.inform("Obtaining Stream stats\n")
    rows = await fetch_report(api, subject=subject, cluster=cluster)
    if dot:
        write_output(dot, _format_dot(rows.links))
    return show_report(rows, order=order or "bytes", raw=raw, leaders=leaders)
