"""Rows of reports on all servers: connections, accounts, links between servers, health, processes.

The input is the servers' replies {"server": {...}, "data": {...}} (server/monitor.go). Rows of connections
and links are what the servers report of them, as JSON, each with its `server`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.base.units import parse_duration

Json = dict[str, Any]

STATES: Mapping[str, int] = {"open": 0, "closed": 1, "all": 2}
"""Values of ConnState."""

_MAX_RECORDS = 100_000
"""How many records each server is asked for at most."""


@dataclass(frozen=True, slots=True)
class HealthRow:
    """A server's answer to /healthz. errors: each with its type and text."""

    server: str
    cluster: str
    domain: str
    status: str
    code: int
    errors: Sequence[tuple[str, str]]

    @property
    def reason(self) -> str:
        """Why a server is not healthy; empty for one that is."""
        if self.status == "ok":
            return ""
        return next((text for _, text in self.errors), "") or self.status or "not healthy"


def build_connection_request(
    *, account: str = "", subject: str = "", user: str = "", state: str = "open"
) -> Json:
    """Return the body of CONNZ, with the subjects of subscriptions. state: a key of STATES.

    account: its ID. Servers do not know names; those are matched in `build_connection_rows`.
    """
    body = {
        "acc": account if is_public_key(account, ACCOUNT) else "",
        "filter_subject": subject,
        "user": user,
        "state": STATES[state],
    }
    sent = {key: value for key, value in body.items() if value}
    return {**sent, "subscriptions": True, "auth": True, "limit": _MAX_RECORDS}


def build_connection_rows(replies: Sequence[Json], account: str = "") -> list[Json]:
    """Return the connections in answers to CONNZ. account: only those of this one, by ID or name."""
    return [
        connection
        for connection in list_links(replies, "connections")
        if account in ("", connection.get("account", ""), connection.get("name_tag"))
    ]


def list_links(replies: Sequence[Json], key: str) -> list[Json]:
    """Return the connections, leaf node connections or routes in the answers of servers. key: of the data."""
    return [
        {**link, "server": reply["server"]}
        for reply in replies
        for link in (reply.get("data") or {}).get(key) or ()
    ]


def list_gateways(replies: Sequence[Json]) -> list[Json]:
    """Return the gateways in answers to GATEWAYZ: the connection of each, with the `name` of the other
    cluster, its `kind`, "Outbound" or "Inbound", the `gateway_port` at which the server takes gateways, and
    how many `accounts` it carries."""
    return [
        {
            **(gateway.get("connection") or {}),
            "server": reply["server"],
            "name": name,
            "kind": kind,
            "gateway_port": data.get("port", 0),
            "accounts": len(gateway.get("accounts") or ()),
        }
        for reply in replies
        for data in (reply.get("data") or {},)
        for name, gateway, kind in _list_gateways(data)
    ]


def build_health_rows(replies: Sequence[Json]) -> list[HealthRow]:
    """Return the health in answers to HEALTHZ."""
    rows = []
    for reply in replies:
        data, server = reply.get("data") or {}, reply["server"]
        errors = [
            (str(error.get("type", "")), str(error.get("error", ""))) for error in data.get("errors") or ()
        ]
        if not errors and data.get("error"):
            errors = [("", str(data["error"]))]
        status, code = str(data.get("status", "")), int(data.get("status_code", 0))
        rows.append(
            HealthRow(
                server["name"], server.get("cluster", ""), server.get("domain", ""), status, code, errors
            )
        )
    return rows


def parse_span(text: str | None) -> int:
    """Return the ns of a span as servers write it, such as 4m45s or 1.7ms; -1 for none."""
    try:
        return parse_duration(text) if text else -1
    except ValueError:
        return -1


def _list_gateways(data: Json) -> Iterator[tuple[str, Json, str]]:
    for name, gateway in (data.get("outbound_gateways") or {}).items():
        yield name, gateway, "Outbound"
    for name, gateways in (data.get("inbound_gateways") or {}).items():
        for gateway in gateways:
            yield name, gateway, "Inbound"
