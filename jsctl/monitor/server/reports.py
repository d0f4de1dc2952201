"""Rows of reports on all servers: connections, accounts, links between servers, health, processes.

The input is the servers' replies {"server": {...}, "data": {...}} (server/monitor.go). Spans are ns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.base.units import parse_duration

Json = dict[str, Any]

STATES: Mapping[str, int] = {"open": 0, "closed": 1, "all": 2}
"""Values of ConnState."""

_MAX_RECORDS = 100_000
"""How many records each server is asked for at most."""


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection of a client or leaf node. account: its name, or its ID. document: the server's report of
    it, with the server."""

    cid: str
    name: str
    server: str
    cluster: str
    address: str
    account: str
    uptime: int
    in_msgs: int
    out_msgs: int
    in_bytes: int
    out_bytes: int
    subs: int
    reason: str = ""
    document: Json = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class AccountRow:
    """An account: the sums of its connections, over all servers. account: its name, or its ID. documents: the
    connections, as servers report them."""

    account: str
    id: str = ""
    connections: int = 0
    in_msgs: int = 0
    out_msgs: int = 0
    in_bytes: int = 0
    out_bytes: int = 0
    subs: int = 0
    documents: list[Json] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A leaf node connection, a route or a gateway, as the server at one end sees it.

    kind: of a gateway, "Outbound" or "Inbound". port: at which the server takes gateways. accounts: how many
    a gateway carries. rtt, uptime: ns, -1 where the server does not report them.
    """

    server: str
    cluster: str
    name: str
    account: str
    address: str
    id: str
    uptime: int
    rtt: int
    in_msgs: int
    out_msgs: int
    in_bytes: int
    out_bytes: int
    subs: int
    compression: str = ""
    spoke: bool = False
    kind: str = ""
    port: int = 0
    accounts: int = 0

    @property
    def bytes(self) -> int:
        """Bytes in and out."""
        return self.in_bytes + self.out_bytes


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


def build_connection_rows(replies: Sequence[Json], account: str = "") -> list[ConnectionRow]:
    """Return the connections in answers to CONNZ. account: only those of this one, by ID or name."""
    return [
        ConnectionRow(
            f"{'L' if connection.get('kind') == 'Leafnode' else ''}{connection['cid']}",
            connection.get("name", ""),
            reply["server"]["name"],
            reply["server"].get("cluster", ""),
            f"{connection.get('ip', '')}:{connection.get('port', 0)}",
            connection.get("name_tag") or connection.get("account", ""),
            parse_span(connection.get("uptime")),
            connection.get("in_msgs", 0),
            connection.get("out_msgs", 0),
            connection.get("in_bytes", 0),
            connection.get("out_bytes", 0),
            connection.get("subscriptions", 0),
            connection.get("reason", ""),
            {**connection, "server": reply["server"]},
        )
        for reply in replies
        for connection in (reply.get("data") or {}).get("connections") or ()
        if account in ("", connection.get("account", ""), connection.get("name_tag"))
    ]


def build_account_rows(connections: Sequence[ConnectionRow]) -> list[AccountRow]:
    """Return the sums of connections by account."""
    accounts: dict[str, AccountRow] = {}
    for connection in connections:
        id_ = str(connection.document.get("account", ""))
        row = accounts.setdefault(id_, AccountRow(connection.account, id_))
        row.connections += 1
        row.in_msgs += connection.in_msgs
        row.out_msgs += connection.out_msgs
        row.in_bytes += connection.in_bytes
        row.out_bytes += connection.out_bytes
        row.subs += connection.subs
        row.documents.append(connection.document)
    return list(accounts.values())


def build_leafnode_rows(replies: Sequence[Json]) -> list[LinkRow]:
    """Return the leaf node connections in answers to LEAFZ."""
    return [
        _build_link_row(reply, leaf, leaf.get("name", ""))
        for reply in replies
        for leaf in (reply.get("data") or {}).get("leafs") or ()
    ]


def build_route_rows(replies: Sequence[Json]) -> list[LinkRow]:
    """Return the routes in answers to ROUTEZ."""
    return [
        _build_link_row(reply, route, route.get("remote_name", ""))
        for reply in replies
        for route in (reply.get("data") or {}).get("routes") or ()
    ]


def build_gateway_rows(replies: Sequence[Json]) -> list[LinkRow]:
    """Return the gateways in answers to GATEWAYZ; name is that of the other cluster."""
    rows = []
    for reply in replies:
        data = reply.get("data") or {}
        for name, gateway, kind in _list_gateways(data):
            row = _build_link_row(reply, gateway.get("connection") or {}, name)
            accounts = len(gateway.get("accounts") or ())
            rows.append(replace(row, kind=kind, port=data.get("port", 0), accounts=accounts))
    return rows


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


def _build_link_row(reply: Json, link: Json, name: str) -> LinkRow:
    number = link.get("rid", link.get("cid", link.get("id", "")))
    return LinkRow(
        reply["server"]["name"],
        reply["server"].get("cluster", ""),
        name,
        link.get("account", ""),
        f"{link.get('ip', '')}:{link.get('port', 0)}",
        str(number),
        parse_span(link.get("uptime")),
        parse_span(link.get("rtt")),
        link.get("in_msgs", 0),
        link.get("out_msgs", 0),
        link.get("in_bytes", 0),
        link.get("out_bytes", 0),
        link.get("subscriptions", 0),
        str(link.get("compression", "")),
        bool(link.get("is_spoke")),
    )
