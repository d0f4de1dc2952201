"""What a server reports about a login and its connection."""

from jsctl.base.json_text import parse_json
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.nats.connection import Connection
from jsctl.nats.subjects import matches

_ATTEMPTS = 20
"""Maximum number of requests until the connected server is the one that replies."""


async def fetch_login(connection: Connection) -> Json:
    """Fetch the user, the account and the permissions of the login ($SYS.REQ.USER.INFO, nats-server 2.10).

    Empty when the server does not reply.
    """
    try:
        # Servers behind leaf nodes reply, too, sometimes sooner, and the first reply may be the only one:
        # they do not have the account, or describe the leaf node's connection (server/events.go:
        # userInfoReq).
        for _ in range(_ATTEMPTS):
            reply = parse_json((await connection.request("$SYS.REQ.USER.INFO")).data)
            if reply["server"]["id"] == connection.server_info["server_id"]:
                user = reply.get("data")
                return user if isinstance(user, dict) else {}
    except (JsctlError, ValueError, LookupError, TypeError, AttributeError):
        pass
    return {}


async def fetch_user(connection: Connection) -> Json:
    """Fetch what `fetch_login` does; `system` says whether the account is the system account."""
    user = await fetch_login(connection)
    if not user:
        return {}
    try:
        # Servers reply to this in the system account only.
        await connection.request("$SYS.REQ.SERVER.PING.IDZ")
    except JsctlError:
        return {**user, "system": False}
    return {**user, "system": True}


def may_publish(rules: Json, subject: str) -> bool:
    """Return whether a login may publish to a subject. rules: `permissions.publish` of `fetch_login`."""
    allowed = rules.get("allow") or [">"]
    return any(matches(rule, subject) for rule in allowed) and not any(
        matches(rule, subject) for rule in rules.get("deny") or ()
    )


async def describe_connection(connection: Connection) -> Json:
    """Return the facts about a connection: its server, its addresses, its TLS. rtt is in ns."""
    server = connection.server_info
    peer, tls = connection.socket_info("peername"), connection.socket_info("ssl_object")
    facts: Json = {
        "client_id": server.get("client_id"),
        "client_ip": server.get("client_ip"),
        "rtt_ns": await connection.measure_rtt(),
        "headers": bool(server.get("headers")),
        "max_payload": connection.max_payload,
        "cluster": server.get("cluster"),
        "url": connection.url,
        "address": f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else None,
        "server_id": server.get("server_id"),
        "server_version": server.get("version"),
        "server_name": server.get("server_name"),
        "domain": server.get("domain"),
        "tls": None,
    }
    if tls is not None:
        issuer = (tls.getpeercert() or {}).get("issuer") or ()
        facts["tls"] = {
            "version": tls.version(),
            "cipher": (tls.cipher() or ("",))[0],
            "server_name": tls.server_hostname,
            "issuer": ", ".join(f"{key}={value}" for part in issuer for key, value in part) or None,
        }
    return facts
