"""Changes of servers and accounts that are about to be made."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.units import format_bytes, pluralize
from jsctl.monitor.server.rescue import RescuePlan
from jsctl.monitor.server.stored import Stored
from jsctl.views.intent import Intent
from jsctl.views.result import recorder

_record = recorder(("streams", "consumers", "messages", "bytes"))


def purge(account: str, stored: Stored) -> Intent:
    """Return the intent to remove everything that an account has in JetStream."""
    description = f"all streams and consumers of account {account} ({_format_amount(stored)})"
    return Intent(f"remove {description}", {"account": account, **_record(stored)})


def evacuate(server: str, stored: Stored) -> Intent:
    """Return the intent to move everything that a server has in JetStream."""
    description = f"all streams and consumers of server {server} to others ({_format_amount(stored)})"
    return Intent(f"move {description}", {"server": server, **_record(stored)})


def peer_remove(server: str, loses: str, *, online: bool) -> Intent:
    """Return the intent to remove a server from the meta group. loses: `deletes 3 messages (90 B) of Stream
    A`; empty for nothing."""
    state = "online" if online else "offline"
    facts = {"server": server, "online": online}
    action = f"remove server {server}, which is {state}, from the cluster for good"
    return Intent(f"{action}, which {loses}" if loses else action, facts)


def rescue(plan: RescuePlan, new_quorum: int) -> Intent:
    """Return the intent to lower the quorum of the meta group. new_quorum: the new quorum."""
    offline = plan.size - len(plan.servers)
    facts = {"online": list(plan.servers), "size": plan.size, "quorum": plan.quorum, "new_quorum": new_quorum}
    return Intent(
        f"let {new_quorum} of {plan.size} servers suffice instead of {plan.quorum}",
        facts,
        question=f"Are the offline servers ({offline}) gone for good, and should {new_quorum} instead of"
        f" {plan.quorum} of {plan.size} suffice?",
    )


def balance(surplus: int, clusters: int) -> Intent:
    """Return the intent to close connections. surplus: how many. clusters: in how many clusters."""
    where = f" in {clusters} clusters" if clusters > 1 else ""
    return Intent(f"close {pluralize(surplus, 'connection')}{where}", {"connections": surplus})


def change_servers(verb: str, network: str, servers: Sequence[str]) -> Intent:
    """Return the intent to do something to servers on this machine. verb: "kill"."""
    action = f"{verb} {', '.join(servers) or 'no server'} of network {network}"
    return Intent(action, {"network": network, "servers": list(servers)})


def kick(client: Mapping[str, Any], server: Mapping[str, Any]) -> Intent:
    """Return the intent to disconnect a client."""
    name_note = f" {client['name']}" if client.get("name") else ""
    action = (
        f"disconnect client {client.get('cid')}{name_note} ({client.get('ip')}) from server {server['name']}"
    )
    facts = {"cid": client.get("cid"), "name": client.get("name", ""), "ip": client.get("ip", "")}
    return Intent(action, {**facts, "server": server["name"], "account": client.get("account", "")})


def down(network: str, folder: str, *, keep_data: bool) -> Intent:
    """Return the intent to stop a network on this machine."""
    facts = {"network": network, "folder": folder, "keep_data": keep_data}
    stop = f"stop network {network}; its data in {folder} stays"
    return Intent(stop if keep_data else f"remove network {network} and all of its data in {folder}", facts)


def _format_amount(stored: Stored) -> str:
    return (
        f"{pluralize(stored.streams, 'stream')}, {pluralize(stored.consumers, 'consumer')}, "
        f"{pluralize(stored.messages, 'message')}, {format_bytes(stored.bytes)}"
    )
