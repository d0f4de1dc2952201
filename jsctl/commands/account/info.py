"""`jsctl account info`."""

import json

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.nats.connection import Connection
from jsctl.units import SECOND
from jsctl.views.account import info as view
from jsctl.views.result import Result


@command("info", examples=["jsctl account info", "jsctl account info --json"])
async def info(env: Env) -> Result:
    """Fails, after it has shown the rest, when JetStream is off or does not answer."""
    api = await env.jetstream()
    connection = api.connection
    user = await _user(connection)
    about = await _connection(connection)
    jetstream, error = None, None
    try:
        jetstream = await api.call("INFO")
    except JsctlError as raised:
        error = raised
        env.say(f"jsctl: error: {raised}")
    return view.info(user, about, jetstream, error)


async def _user(connection: Connection) -> Json:
    """The server's word on who is logged in (nats-server 2.10: $SYS.REQ.USER.INFO); empty without."""
    try:
        reply = await connection.request(
            "$SYS.REQ.USER.INFO", timeout=min(connection.settings.timeout, SECOND)
        )
        found = json.loads(reply.data).get("data")
    except (JsctlError, ValueError, AttributeError):
        return {}
    if not isinstance(found, dict):
        return {}
    try:
        # Only the system account has somebody who answers.
        await connection.request("$SYS.REQ.SERVER.PING.IDZ", timeout=min(connection.settings.timeout, SECOND))
    except JsctlError:
        return {**found, "system": False}
    return {**found, "system": True}


async def _connection(connection: Connection) -> Json:
    server = connection.server_info
    peer, tls = connection.socket_info("peername"), connection.socket_info("ssl_object")
    about: Json = {
        "client_id": server.get("client_id"),
        "client_ip": server.get("client_ip"),
        "rtt": await connection.rtt(),
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
        about["tls"] = {
            "version": tls.version(),
            "cipher": (tls.cipher() or ("",))[0],
            "server_name": tls.server_hostname,
            "issuer": ", ".join(f"{key}={value}" for part in issuer for key, value in part) or None,
        }
    return about
