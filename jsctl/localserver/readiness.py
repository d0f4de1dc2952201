"""The conditions for a network to be ready: servers reply and are healthy."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.units import MS, SECOND, pluralize
from jsctl.contexts.layers import from_context
from jsctl.contexts.model import Context
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, JsctlError, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.monitor.server.reports import build_health_rows
from jsctl.monitor.server.requests import ping
from jsctl.nats.connection import Connection
from jsctl.nats.replies import request_many

REPLY_SECONDS = 20
"""How long all that a login must reach may take to reply, once the servers accept clients."""

_PAUSE_SECONDS = 0.05

HEALTH: Json = {"details": True}
STREAMS: Json = {"accounts": True, "streams": True, "config": True, "limit": 1024}


def read_context_settings(raw: Mapping[str, Any]) -> Settings:
    """Return the settings of a context of a local network."""
    return Settings(**{"timeout": 2 * SECOND, **from_context(Context("", dict(raw)))})


async def connect(raw: Mapping[str, Any]) -> Connection:
    """Connect with a context of a local network; wait, without a limit, until a server accepts it."""
    settings = read_context_settings(raw)
    while True:
        try:
            return await Connection.open(settings)
        except (Unreachable, Denied):
            await asyncio.sleep(_PAUSE_SECONDS)


async def wait_for_login(raw: Mapping[str, Any], domains: Sequence[str], servers: int) -> None:
    """Wait until all JetStream domains and servers of a login have replied. JetStream replies once its domain
    has a leader. Raises TimeoutError after REPLY_SECONDS."""
    async with asyncio.timeout(REPLY_SECONDS):
        connection = await connect(raw)
        try:
            for domain in domains:
                await _wait_for_jetstream(Api(connection, domain=domain))
            while servers:
                if await count_servers(connection, servers) >= servers:
                    break
                await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            await connection.close()


async def count_servers(connection: Connection, expect: int) -> int:
    """Return how many servers reply to a login of the system account."""
    replies = await request_many(connection, "$SYS.REQ.SERVER.PING", expect=expect, stall=100 * MS)
    return len(replies)


async def find_unhealthy(connection: Connection, expect: int) -> list[str]:
    """Return sentences about servers that are not healthy (`/healthz`, JetStream and its assets included)."""
    replies = await ping(connection, "HEALTHZ", HEALTH, expect=expect)
    if any(_list_lone_asset_errors(reply) for reply in replies):
        replies = forgive_lone_streams(replies, await ping(connection, "JSZ", STREAMS, expect=expect))
    rows = build_health_rows(replies)
    sentences = [f"{row.server}: {row.reason}" for row in rows if row.reason]
    if len(rows) < expect:
        sentences.append(f"only {len(rows)} of {pluralize(expect, 'server')} answered")
    return sorted(sentences)


def forgive_lone_streams(health: Sequence[Json], jsz: Sequence[Json]) -> list[Json]:
    """Return answers to HEALTHZ without the errors about streams that have one replica instead of several.

    They remain after `server cluster evacuate`; they work, and will not change. health: replies to
    requests with HEALTH. jsz: replies to requests with STREAMS.
    """
    lone_streams = {
        (reply["server"]["name"], str(account.get("name", "")), str(stream.get("name", "")))
        for reply in jsz
        for account in (reply.get("data") or {}).get("account_details") or ()
        for stream in account.get("stream_detail") or ()
        if (stream.get("cluster") or {}).get("leader") == reply["server"]["name"]
        and not stream["cluster"].get("replicas")
    }
    forgiven = []
    for reply in health:
        name, data = reply["server"]["name"], reply.get("data") or {}
        forgiven_errors = [
            error
            for error in _list_lone_asset_errors(reply)
            if (name, error.get("account"), error.get("stream")) in lone_streams
        ]
        errors = [error for error in data.get("errors") or () if error not in forgiven_errors]
        status = {} if errors else {"status": "ok", "status_code": 200}
        forgiven.append({**reply, "data": {**data, "errors": errors, **status}} if forgiven_errors else reply)
    return forgiven


def _list_lone_asset_errors(reply: Json) -> list[Json]:
    """Return the errors about streams and consumers that should have several replicas and have no group."""
    errors = (reply.get("data") or {}).get("errors") or ()
    return [error for error in errors if str(error.get("error", "")).endswith("group node missing")]


async def _wait_for_jetstream(api: Api) -> None:
    while True:
        try:
            await api.call("INFO")
            return
        except JsctlError:  # not ready; the caller limits the time
            await asyncio.sleep(_PAUSE_SECONDS)
