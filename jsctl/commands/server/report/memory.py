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
from jsctl.views.result import Column, Result, Table, Text

Json = dict[str, Any]

_SERVERS = (
    Column("Server", "server"),
    Column("Memory", "memory", "bytes"),
    Column("JetStream Memory", "jetstream_memory", "bytes"),
    Column("Other", "other", "bytes"),
    Column("Streams", "streams", "count"),
    Column("Consumers", "consumers", "count"),
    Column("Connections", "connections", "count"),
    Column("Subscriptions", "subscriptions", "count"),
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


def _build_server(reply: Json, jetstream: Json) -> tuple[Any, ...]:
    data = reply.get("data") or {}
    memory, held = int(data.get("mem") or 0), int(jetstream.get("memory") or 0)
    counts = (int(jetstream.get(key) or 0) for key in ("streams", "consumers"))
    sums = (int(data.get(key) or 0) for key in ("connections", "subscriptions"))
    return reply["server"]["name"], memory, held, max(0, memory - held), *counts, *sums


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
    servers = [_build_server(reply, by_id.get(reply["server"]["id"], {})) for reply in variables]
    servers.sort(key=lambda row: (-row[1], row[0]))
    replicas = [*list_stream_replicas(details), *list_consumer_replicas(details)]
    holders = [_build_holder(each) for each in replicas if server in ("", each.server)]
    holders = sorted((row for row in holders if any(_rank(row))), key=_rank, reverse=True)
    parts = [
        Table("Memory of Servers", _SERVERS, servers),
        Table("What Holds Memory", _HOLDERS, holders[:top]),
    ]
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
