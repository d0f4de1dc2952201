"""How much an account or a server stores, which a purge or a removal puts at risk."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jsctl.monitor.server.replicas import Json, Replica, list_consumer_replicas, list_stream_replicas
from jsctl.monitor.server.requests import fetch_details
from jsctl.nats.connection import Connection


class Stored(NamedTuple):
    """What is stored: the numbers of streams and consumers, and the size of the streams. configs: of the
    streams."""

    streams: int
    consumers: int
    messages: int
    bytes: int
    configs: Sequence[Json] = ()


async def fetch_account_storage(connection: Connection, domain: str, account: str) -> Stored:
    """Return what an account, by its name or ID, holds in a domain, replicas counted once."""
    return await _sum_up(connection, domain, lambda replica: account in (replica.account, replica.account_id))


async def fetch_server_storage(connection: Connection, domain: str, server: str) -> Stored:
    """Return what a server, by its name or ID, holds of all accounts."""
    return await _sum_up(connection, domain, lambda replica: server in (replica.server, replica.server_id))


async def fetch_only_copies(connection: Connection, domain: str, server: str) -> list[Json]:
    """Return configuration and state of the streams of all accounts that only one server has, by its name or
    ID."""
    replicas = list_stream_replicas(await _fetch_details(connection, domain))
    there = [replica.detail for replica in replicas if server in (replica.server, replica.server_id)]
    return [detail for detail in there if int((detail.get("config") or {}).get("num_replicas") or 0) == 1]


async def _fetch_details(connection: Connection, domain: str) -> list[Json]:
    replies = await fetch_details(connection)
    return [reply for reply in replies if not domain or reply["server"].get("domain", "") == domain]


async def _sum_up(connection: Connection, domain: str, is_selected: Callable[[Replica], bool]) -> Stored:
    replies = await _fetch_details(connection, domain)
    streams: dict[tuple[str, str], Replica] = {}
    for replica in filter(is_selected, list_stream_replicas(replies)):
        if replica.leads or (replica.account, replica.name) not in streams:
            streams[replica.account, replica.name] = replica
    consumers = {
        (replica.account, replica.name, replica.consumer)
        for replica in filter(is_selected, list_consumer_replicas(replies))
    }
    states = [stream.detail.get("state") or {} for stream in streams.values()]
    return Stored(
        len(streams),
        len(consumers),
        sum(int(state.get("messages", 0)) for state in states),
        sum(int(state.get("bytes", 0)) for state in states),
        [stream.detail.get("config") or {"name": stream.name} for stream in streams.values()],
    )
