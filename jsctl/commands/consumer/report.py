"""`jsctl consumer report`."""

from collections.abc import Sequence

from jsctl.base.units import NEVER, format_count, format_exact_duration, format_server_time, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.picking.system_streams import ShownNames
from jsctl.env import Env
from jsctl.jetstream.api import Api
from jsctl.jetstream.config.consumer_fields import ACK_POLICY
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer import rows as consumer_rows
from jsctl.monitor.consumer.rows import ConsumerLine
from jsctl.monitor.stream.rows import fetch_snapshot
from jsctl.prompts.prompter import Choice
from jsctl.views.consumer.unreachable import unreachable_consumers
from jsctl.views.result import Cell, Column, Part, Result, Table, Text, recorder
from jsctl.views.shared.leaders import leader_report
from jsctl.views.shared.tables import raw_columns, unreachable_streams

_COLUMNS = (
    Column("Consumer", "consumer"),
    Column("Mode", "mode"),
    Column("Ack Policy", "ack_policy"),
    Column("Ack Wait", "ack_wait", "duration"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Ack Floor", "ack_floor", "count"),
    Column("Last Ack", "ack_age", "ago"),
    Column("Waiting", "waiting", "count"),
    Column("State", "state", "prose"),
    Column("Trouble", "trouble", "prose"),
    Column("Cluster", "cluster"),
)

_HIDEABLE = (
    "ack_wait_ns",
    "cluster",
    "ack_policy",
    "waiting",
    "ack_age_ns",
    "mode",
    "ack_floor",
    "redelivered",
)

_CONSUMER_KEYS = (
    "stream",
    "consumer",
    "mode",
    "ack_policy",
    "ack_wait_ns",
    "ack_pending",
    "max_ack_pending",
    "redelivered",
    "unprocessed",
    "matching",
    "ack_floor",
    "ack_age_ns",
    "waiting",
    "bound",
    "paused_until",
    "pinned",
    "api_level",
    "clustered",
    "cluster",
    "leader",
    "peers",
    "trouble",
)
"""Keys of a consumer in JSON."""


def _show_report(
    rows: Sequence[ConsumerLine], lists: Sequence[ConsumerList], *, raw: bool = False, leaders: bool = False
) -> Result:
    """Show the report of `consumer report`: all consumers in one table, leaders on request, and what is
    offline.

    lists: the streams' consumer lists, which name those that did not answer. raw: show numbers in full.
    """
    data = {
        "consumers": map(recorder(_CONSUMER_KEYS), rows),
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
    columns = raw_columns(_COLUMNS) if raw else list(_COLUMNS)
    lines = [_build_cells(row, raw) for row in rows]
    if not stream:
        columns.insert(0, Column("Stream", "stream"))
        lines = [[row.stream, *line] for row, line in zip(rows, lines, strict=True)]
    return Table(title, columns, lines, hideable=_HIDEABLE, optional=("state", "trouble"))


def _build_cells(row: ConsumerLine, raw: bool) -> list[object]:
    ack_wait: object = row.ack_wait if row.ack_policy != "none" else None
    ack_pending: object = row.ack_pending
    redelivered: object = row.redelivered
    unprocessed: object = row.unprocessed
    ack_age: object = row.ack_age
    if raw:
        if row.ack_age == NEVER:
            ack_age = Cell(None, "never")
        if ack_wait is not None:
            ack_wait = Cell(row.ack_wait, format_exact_duration(row.ack_wait))
    else:
        if row.at_limit:
            limit = f"{format_count(row.ack_pending)} / {format_count(row.max_ack_pending)}"
            ack_pending = Cell(row.ack_pending, limit, "bad")
        if row.redelivered:
            redelivered = Cell(row.redelivered, format_count(row.redelivered), "warn")
        if row.unprocessed:
            share = f"{format_count(row.unprocessed)} / {int(row.share * 100)}%"
            unprocessed = Cell(row.unprocessed, share, "warn" if row.idle else "")
    interest = Cell(int(row.bound), "bound" if row.bound else "no interest")
    return [
        row.consumer,
        Cell(row.mode, row.mode.title()),
        Cell(row.ack_policy, ACK_POLICY.describe(row.ack_policy)),
        ack_wait,
        ack_pending,
        redelivered,
        unprocessed,
        row.ack_floor,
        ack_age,
        row.waiting if row.mode == "pull" else interest,
        _build_state_cell(row),
        _build_trouble_cell(row),
        _build_cluster_cell(row),
    ]


def _build_state_cell(row: ConsumerLine) -> Cell:
    states = [f"paused until {format_server_time(row.paused_until)}"] if row.paused_until else []
    states += [f"pinned {pin}" for pin in row.pinned]
    text = ", ".join(states)
    return Cell(text, text, "warn" if row.paused_until else "")


def _build_trouble_cell(row: ConsumerLine) -> Cell:
    # The column before already says that it is paused.
    text = ", ".join(words for words in row.trouble if words != "paused" or not row.paused_until)
    return Cell(text, text, "bad" if any(trouble.bad for trouble in row.troubles) else "warn")


def _build_cluster_cell(row: ConsumerLine) -> Cell:
    names = sorted([*([f"{row.leader}*"] if row.leader else []), *row.peers])
    text = ", ".join(names)
    if row.clustered and not row.leader:
        return Cell(text, f"no leader: {text}" if text else "no leader", "bad")
    return Cell(text, text, "bad" if any(name.endswith("!") for name in names) else "")


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
@option("--raw", "-r", is_flag=True, help="Show exact numbers, without units or separators")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many consumers")
async def report(env: Env, stream: tuple[str, ...], raw: bool, leaders: bool) -> Result:
    """Report on the streams that are named, or all of them. The share beside Unprocessed is that of the
    messages that the consumer's filter matches.
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
