"""One server of the network, by its name or ID."""

from jsctl.base.command_lines import build_line
from jsctl.base.similar_names import find_nearest
from jsctl.errors import ApiError, NotFound, RequestTimeout
from jsctl.monitor.server.requests import Json, ask_server, ping
from jsctl.nats.connection import Connection


async def find_server(connection: Connection, name: str = "") -> Json:
    """Fetch {"server": {...}, "data": {...}}, with VARZ, of the server of a name or ID; without one, of the
    server that jsctl is connected to. Raises NotFound, Denied."""
    replies = await ping(connection, "VARZ")
    server = name or connection.server_info.get("server_id", "")
    for reply in replies:
        if server in (reply["server"]["name"], reply["server"]["id"]):
            return reply
    names = [reply["server"]["name"] for reply in replies]
    nearest = find_nearest(name, names)
    hint = f"did you mean {nearest}? " if nearest else ""
    raise NotFound(f"there is no server {name!r}", f"{hint}{build_line('server list')} shows the servers")


async def fetch_account(connection: Connection, account: str, server: str = "") -> Json:
    """Fetch what a server knows of an account. server: its name; empty for the first that answers.

    Raises NotFound for an account that it does not know, Denied.
    """
    missing = NotFound(
        f"there is no account {account!r}", f"{build_line('server report accounts')} shows the accounts"
    )
    try:
        if server:
            named = await find_server(connection, server)
            reply = await ask_server(connection, named["server"]["id"], "ACCOUNTZ", {"account": account})
        else:
            replies = await ping(connection, "ACCOUNTZ", {"account": account}, expect=1)
            if not replies:
                raise RequestTimeout("no server answered in time", "--timeout may help")
            reply = replies[0]
    except ApiError as error:  # server/monitor.go has no code of its own for it
        raise missing if "does not exist" in error.description else error from None
    detail: Json | None = (reply.get("data") or {}).get("account_detail")
    if not detail:
        raise missing
    return detail
