"""`jsctl server report memory`."""

from collections.abc import Sequence
from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.monitor.server.replicas import Replica, list_consumer_replicas, list_stream_replicas
from jsctl.monitor.server.requests import fetch_details, ping
from jsctl.views.result import Column, Result, Table, Text, build_table
from jsctl.views.server.reports import build_column
from jsctl.views.server.watch import format_title

Json = dict[str, Any]

_MEMORY = build_column("Memory", "memory", "bytes", "data.mem")
_JETSTREAM_MEMORY = build_column("JetStream Memory", "jetstream_memory", "bytes", "jetstream.memory")
_SERVERS = (
    build_column("Server", "server", path="server.name"),
    _MEMORY,
    _JETSTREAM_MEMORY,
    Column(
        *("Other", "other", "bytes"),
        read=lambda server: max(0, _MEMORY.get(server) - _JETSTREAM_MEMORY.get(server)),
    ),
    build_column("Streams", "streams", "count", "jetstream.streams"),
    build_column("Consumers", "consumers", "count", "jetstream.consumers"),
    build_column("Connections", "connections", "count", "data.connections"),
    build_column("Subscriptions", "subscriptions", "count", "data.subscriptions"),
)
_HOLDERS = (
    Column("Server", "server"),
    Column("Account", "account"),
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Storage", "storage"),
    Column("Bytes", "bytes", "bytes"),
    Column("Subjects", "subjects", "count"),
    Column("Deleted", "deleted", "count"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
)
_UNKNOWN = (
    "Servers say how many bytes streams in memory have. Of other streams and of consumers they say what they"
    " keep in memory, but not its bytes: subjects, deleted messages, unacknowledged and redelivered messages."
    " Other is all that JetStream does not count: these, connections, caches and the Go runtime."
)


def _build_holder(replica: Replica) -> tuple[Any, ...]:
    detail, config = replica.detail, replica.detail.get("config") or {}
    where = replica.server, replica.account, replica.name, replica.consumer
    if replica.consumer:
        storage = "memory" if config.get("mem_storage") else ""
        pending = int(detail.get("num_ack_pending") or 0), int(detail.get("num_redelivered") or 0)
        return *where, storage, None, 0, 0, *pending
    state, storage = detail.get("state") or {}, str(config.get("storage") or "file")
    held = int(state.get("bytes") or 0) if storage == "memory" else None
    counts = int(state.get("num_subjects") or 0), int(state.get("num_deleted") or 0)
    return *where, storage, held, *counts, 0, 0


def _rank(holder: Sequence[Any]) -> tuple[int, int]:
    return holder[5] or 0, sum(holder[6:])


def show_memory(variables: Sequence[Json], details: Sequence[Json], server: str, top: int) -> Result:
    """Show the memory of servers (answers to VARZ) and what holds it (answers to JSZ), most first.

    server: only this one; empty for all. top: how many streams and consumers people see; JSON has all that
    hold any.
    """
    variables = [reply for reply in variables if server in ("", reply["server"]["name"])]
    if not variables:
        raise NotFound(f"no server {server!r} answers", "jsctl server list shows the servers")
    by_id = {reply["server"]["id"]: reply.get("data") or {} for reply in details}
    servers = [{**reply, "jetstream": by_id.get(reply["server"]["id"])} for reply in variables]
    servers.sort(key=lambda server: (-_MEMORY.get(server), server["server"]["name"]))
    replicas = [*list_stream_replicas(details), *list_consumer_replicas(details)]
    holders = [_build_holder(each) for each in replicas if server in ("", each.server)]
    holders = sorted((row for row in holders if any(_rank(row))), key=_rank, reverse=True)
    title = format_title("What Holds Memory", min(top, len(holders)), len(holders))
    parts = [build_table("Memory of Servers", _SERVERS, servers), Table(title, _HOLDERS, holders[:top])]
    document = {"servers": parts[0].records(), "holders": Table("", _HOLDERS, holders).records()}
    return Result([*parts, Text(_UNKNOWN)], data=document)


@command(
    "memory",
    columns=(),
    examples=["jsctl server report memory", "jsctl server report memory n1 --top 5"],
)
@argument("name", metavar="[SERVER]", default="")
@option("--top", type=click.IntRange(min=1), default=20, metavar="N", help="Show this many holders (20)")
@option(*WATCH[0], **WATCH[1])
async def memory(env: Env, name: str, top: int, watch: int | None) -> Report:
    """Show how much memory servers use, how much of it JetStream counts, and which streams and consumers hold
    it, by the servers' own figures. What they do not say is left out rather than estimated. A login of the
    system account is needed.
    """
    check_interval(watch)
    connection = await env.connection()

    async def fetch() -> Result:
        return show_memory(await ping(connection, "VARZ", {}), await fetch_details(connection), name, top)

    return await fetch_or_watch(fetch, watch)
