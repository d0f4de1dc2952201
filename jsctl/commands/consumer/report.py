"""`jsctl consumer report`."""

from collections.abc import Sequence

import click

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.picking.system_streams import ShownNames
from jsctl.env import Env
from jsctl.jetstream.api import Api
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer import rows as consumer_rows
from jsctl.monitor.consumer.rows import ConsumerLine
from jsctl.monitor.report.figures.lists import TROUBLE, build_recorder, list_own_figures
from jsctl.monitor.stream.rows import fetch_snapshot
from jsctl.prompts.prompter import Choice
from jsctl.views.consumer.unreachable import unreachable_consumers
from jsctl.views.result import Part, Result, Table, Text, build_table
from jsctl.views.shared.figures import Line, build_columns
from jsctl.views.shared.leaders import leader_report
from jsctl.views.shared.orders import list_orders, sort_rows
from jsctl.views.shared.tables import unreachable_streams

_COLUMNS = tuple(build_columns("consumers", "own"))
_record = build_recorder([*list_own_figures("consumers"), TROUBLE])


def _show_report(
    rows: Sequence[ConsumerLine], lists: Sequence[ConsumerList], *, raw: bool = False, leaders: bool = False
) -> Result:
    """Show the report of `consumer report`: all consumers in one table, leaders on request, and what is
    offline.

    lists: the streams' consumer lists, which name those that did not answer. raw: show numbers in full.
    """
    data = {
        "consumers": map(_record, rows),
        "missing": {listed.stream: list(listed.missing) for listed in lists if listed.missing},
        "offline": {listed.stream: dict(listed.offline) for listed in lists if listed.offline},
        "refused": {listed.stream: listed.refused for listed in lists if listed.refused},
    }
    only_stream = lists[0].stream if len(lists) == 1 else ""
    unreachable = unreachable_consumers(lists)
    if not rows and not unreachable:
        where = f" on {only_stream}" if only_stream else ""
        table = _build_table((), only_stream, len(lists), raw)
        return Result([table._replace(empty=f"No Consumers defined{where}")], data=data)
    parts: list[Part] = [_build_table(rows, only_stream, len(lists), raw)]
    if leaders:
        pairs = [(row.cluster or "", row.leader) for row in rows if row.leader]
        parts.append(leader_report(pairs, "Consumers"))
    refusals = [
        Text(f"the consumers of stream {listed.stream} are not shown: {listed.refused}", "warn")
        for listed in lists
        if listed.refused
    ]
    return Result([*parts, *unreachable, *refusals], data=data)


def _build_table(rows: Sequence[ConsumerLine], stream: str, streams: int, raw: bool) -> Table:
    where = stream or pluralize(streams, "stream")
    title = f"Consumer report for {where} with {pluralize(len(rows), 'consumer')}"
    columns = build_columns("consumers", "own", raw=raw)[1 if stream else 0 :]
    return build_table(title, columns, map(Line, rows))


@command(
    "report",
    columns=_COLUMNS,
    examples=[
        "jsctl consumer report",
        "jsctl consumer report ORDERS",
        "jsctl con report ORDERS PAYMENTS --raw",
    ],
)
@argument("stream", nargs=-1)
@option("--sort", "order", type=click.Choice(list_orders(_COLUMNS)), help="Sort by this")
@option("--raw", "-r", is_flag=True, help="Show exact numbers, without units or separators")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many consumers")
async def report(env: Env, stream: tuple[str, ...], order: str | None, raw: bool, leaders: bool) -> Result:
    """Report on the streams that are named, or all of them; what is wrong comes first, unless --sort says
    otherwise. The share beside Unprocessed is that of the messages that the consumer's filter matches.
    """
    api = await env.jetstream()
    names = list(dict.fromkeys(map(validate_stream_name, stream))) or await _pick_streams(env, api)
    unreachable: list[Part] = []
    if names:
        infos = await streams.fetch_infos(api, names)
    else:
        snapshot = await fetch_snapshot(api)
        shown_names = ShownNames(env)
        infos = [
            info
            for info in snapshot.infos
            if info["state"].get("consumer_count") and info["config"]["name"] in shown_names
        ]
        shown_names.report_hidden()
        unreachable = list(unreachable_streams(snapshot.missing, snapshot.offline))
    rows, lists = await consumer_rows.collect(api, {info["config"]["name"]: info for info in infos})
    if order is not None:
        rows = [line.line for line in sort_rows(map(Line, rows), _COLUMNS, order)]
    result = _show_report(rows, lists, raw=raw, leaders=leaders)
    return result._replace(parts=[*result.parts, *unreachable])


async def _pick_streams(env: Env, api: Api) -> list[str]:
    """Return the stream that the user picks from a list; empty for all streams, as without a terminal."""
    if not env.can_ask:
        return []
    shown_names = ShownNames(env)
    names = sorted(name for name in await streams.list_names(api) if name in shown_names)
    if not names:
        return []
    choices = [*(Choice(name, name) for name in names), Choice("(all streams)", "")]
    stream = await env.prompter.select("Select a Stream", choices, flag="STREAM", default=names[0])
    return [stream] if stream else []
