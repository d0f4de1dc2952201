"""What a server reports about a login and its connection."""

from jsctl.base.json_text import parse_json
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.nats.connection import Connection


async def fetch_login(connection: Connection) -> Json:
    """Fetch the user, the account and the permissions of the login ($SYS.REQ.USER.INFO, nats-server 2.10).

    Empty when the server does not reply.
    """
    try:
        reply = await connection.request("$SYS.REQ.USER.INFO")
        user = parse_json(reply.data).get("data")
    except (JsctlError, ValueError, AttributeError):
        return {}
    return user if isinstance(user, dict) else {}


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
