"""Servers as rows of a report: their use of JetStream."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]


class JetStreamRow(NamedTuple):
    """A server's use of JetStream. Sizes are bytes.

    api, errors: API requests since it started, and how many of them failed. pending: meta operations that
    wait. leads: whether it leads the meta group of its domain. quorum: how many servers the meta group needs
    to act, rescue: whether these are fewer than a majority; None without a meta group.
    """

    server: str
    cluster: str
    domain: str
    streams: int
    consumers: int
    messages: int
    bytes: int
    memory: int
    file: int
    api: int
    errors: int
    pending: int
    leads: bool
    stream_leaders: int
    consumer_leaders: int
    quorum: int | None = None
    rescue: bool | None = None


def build_jetstream_row(reply: Json, account: str = "") -> JetStreamRow:
    """Return a server's reply to PING.JSZ as a row; with an account, the part of that account."""
    server, data = reply.get("server") or {}, reply.get("data") or {}
    meta = data.get("meta_cluster") or {}
    name = str(server.get("name", ""))
    api = data.get("api") or {}
    common: Json = {
        "server": name,
        "cluster": str(server.get("cluster") or ""),
        "domain": str((data.get("config") or {}).get("domain") or server.get("domain") or ""),
        "pending": int(meta.get("pending", 0)),
        "leads": bool(meta) and meta.get("leader") == name,
        "quorum": int(meta.get("quorum_needed", 0)) if meta else None,
        "rescue": bool(meta.get("rescue")) if meta else None,
    }
    if account:
        return JetStreamRow(**common, **_sum_up_account(find_account_detail(data, account), name))
    return JetStreamRow(
        **common,
        streams=int(data.get("streams", 0)),
        consumers=int(data.get("consumers", 0)),
        messages=int(data.get("messages", 0)),
        bytes=int(data.get("bytes", 0)),
        memory=int(data.get("memory", 0)),
        file=int(data.get("storage", 0)),
        api=int(api.get("total", 0)),
        errors=int(api.get("errors", 0)),
        stream_leaders=int(data.get("streams_leader", 0)),
        consumer_leaders=int(data.get("consumers_leader", 0)),
    )


def find_account_detail(data: Json, account: str) -> Json:
    """Return the part of an account, by name or ID, in JSZ data that were requested only for it.

    Empty when the server does not have the account: it then describes all others (nats-server: Server.Jsz).
    """
    details = data.get("account_details") or ()
    return next((detail for detail in details if account in (detail.get("id"), detail.get("name"))), {})


def _sum_up_account(account: Json, server: str) -> Json:
    """Return the numbers of an account, zeros from a server without it."""
    streams = account.get("stream_detail") or []
    consumers = [consumer for stream in streams for consumer in stream.get("consumer_detail") or []]
    api = account.get("api") or {}
    # The totals of the account are those of all servers, as are its API requests.
    memory, stored = _sum_bytes(streams, "memory"), _sum_bytes(streams, "file")
    return {
        "streams": len(streams),
        "consumers": sum(int(stream["state"].get("consumer_count", 0)) for stream in streams),
        "messages": sum(int(stream["state"].get("messages", 0)) for stream in streams),
        "bytes": memory + stored,
        "memory": memory,
        "file": stored,
        "api": int(api.get("total", 0)),
        "errors": int(api.get("errors", 0)),
        "stream_leaders": sum(_get_leader(stream) == server for stream in streams),
        "consumer_leaders": sum(_get_leader(consumer) == server for consumer in consumers),
    }


def _sum_bytes(streams: Sequence[Json], storage: str) -> int:
    """Return the bytes of the streams that are stored in memory or files."""
    return sum(
        int(stream["state"].get("bytes", 0))
        for stream in streams
        if (stream.get("config") or {}).get("storage", "file") == storage
    )


def _get_leader(detail: Json) -> str:
    return str((detail.get("cluster") or {}).get("leader") or "")
