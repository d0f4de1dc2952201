"""`jsctl server stream-check` and `consumer-check`."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from jsctl.base.units import SECOND, pluralize
from jsctl.commands.cli import command, declare_all, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.commands.server.report.flags import ARCHIVE, read_archive
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.monitor.server.replicas import Replica, list_consumer_replicas, list_stream_replicas, parse_replies
from jsctl.monitor.server.requests import Filter, ask_server, fetch_details
from jsctl.views.result import Result
from jsctl.views.server import replicas as view

Json = dict[str, Any]


_option = partial(option, into="flags")
_count = click.IntRange(min=1)

replica_flags = declare_all(
    _option("--stream", metavar="STREAM", help="Only this stream"),
    _option("--raft-group", metavar="GROUP", help="Only this Raft group"),
    _option("--health", is_flag=True, help="Ask servers whether each replica is healthy"),
    _option("--expected", type=_count, metavar="NUMBER", help="Wait for this many servers"),
    _option("--unsynced", is_flag=True, help="Only replicas that are not in sync"),
    _option("--stdin", is_flag=True, help="Read answers of jsctl server request jetstream --all --config"),
    _option("--read-timeout", type=_count, metavar="SECONDS", help="Wait this long for answers (5)"),
    _option(*WATCH[0], **WATCH[1]),
    _option(*ARCHIVE[0], **ARCHIVE[1]),
    _option("--csv", is_flag=True, help="The same as --as csv"),
)
"""Declares the flags; the verb gets those that were given as `flags`."""


async def report(
    env: Env,
    flags: Json,
    replicas_of: Callable[[Sequence[Json]], list[Replica]],
    show: Callable[[Sequence[Replica], Sequence[str] | None], Result],
    consumer: str = "",
) -> Report:
    """Show the replicas that the flags choose, once or every --watch."""
    watch = flags.get("watch")
    check_interval(watch)
    if watch is not None and flags.get("stdin"):
        raise BadInput("--stdin and --watch cannot be used together", "standard input is read once")
    if flags.get("archive") and (other := next((key for key in ("stdin", "health") if flags.get(key)), "")):
        raise BadInput(f"--archive and --{other} cannot be used together", "leave out one of them")

    async def fetch() -> Result:
        return show(*await _fetch_replicas(env, flags, replicas_of, consumer))

    return await fetch_or_watch(fetch, watch)


async def _fetch_replicas(
    env: Env, flags: Json, replicas_of: Callable[[Sequence[Json]], list[Replica]], consumer: str
) -> tuple[list[Replica], list[str] | None]:
    """Return the replicas that the flags choose, and the health of each if that is wanted."""
    if flags.get("csv"):
        env.flags["form"] = "csv"
    if flags.get("archive"):
        replies = read_archive(flags, "JSZ", Filter())
    elif flags.get("stdin"):
        replies = parse_replies(env.streams.stdin.read())
    else:
        expected = flags.get("expected") or 0
        timeout = flags.get("read_timeout")
        connection = await env.connection()
        replies = await fetch_details(connection, expect=expected, timeout=timeout and timeout * SECOND)
        if expected and len(replies) < expected:
            env.say(f"{len(replies)} of {pluralize(expected, 'server')} replied")
    replicas = [
        replica
        for replica in replicas_of(replies)
        if (not flags.get("stream") or replica.name == flags["stream"])
        and (not flags.get("raft_group") or replica.group == flags["raft_group"])
        and (not consumer or replica.consumer == consumer)
        and not (flags.get("unsynced") and replica.synced)
    ]
    health = (
        await asyncio.gather(*(_fetch_health(env, replica) for replica in replicas))
        if flags.get("health")
        else None
    )
    return replicas, health


async def _fetch_health(env: Env, replica: Replica) -> str:
    body = {"account": replica.account, "stream": replica.name}
    if replica.consumer:
        body["consumer"] = replica.consumer
    try:
        reply = await ask_server(await env.connection(), replica.server_id, "HEALTHZ", body)
    except JsctlError as error:
        return error.message
    data = reply.get("data") or {}
    return ": ".join(str(data[key]) for key in ("status", "error") if data.get(key))


@command(
    "stream-check",
    columns=view.STREAMS,
    examples=["jsctl server stream-check", "jsctl server stream-check --stream ORDERS --unsynced --health"],
)
@replica_flags
async def stream_check(env: Env, flags: dict[str, Any]) -> Report:
    """Show each stream as each of its servers has it; a star marks the leader. While messages arrive,
    replicas differ for a moment. A login of the system account is needed.
    """
    return await report(env, flags, list_stream_replicas, view.streams)


@command(
    "consumer-check",
    columns=view.CONSUMERS,
    examples=["jsctl server consumer-check", "jsctl server consumer-check --stream ORDERS --consumer NEW"],
)
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer")
@replica_flags
async def consumer_check(env: Env, consumer: str, flags: dict[str, Any]) -> Report:
    """Show each consumer as each of its servers has it; a star marks the leader. A login of the system
    account is needed.
    """
    return await report(env, flags, list_consumer_replicas, view.consumers, consumer)
