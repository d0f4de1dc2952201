"""`jsctl server cluster peer-remove`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.cluster.meta import check_follower, remove_server
from jsctl.monitor.server.meta import fetch_meta
from jsctl.views.result import Result
from jsctl.views.server import intents


@command("peer-remove", examples=["jsctl server cluster peer-remove n3"])
@argument("name", metavar="SERVER")
@destructive("Remove without asking, even a server that is online")
async def peer_remove(env: Env, name: str, force: bool) -> Result:
    """Remove a server from the meta group for good: its streams and consumers get replicas on other servers.
    SERVER is a name or an ID. A login of the system account is needed.
    """
    api = await env.jetstream()
    meta = await fetch_meta(await env.connection(), api.domain)
    online = {str(peer.get("name")) for peer in meta.get("replicas") or () if not peer.get("offline")}
    if name in online and not force:
        raise JsctlError(f"server {name} is online", "stop it first, or use --force")
    check_follower(meta, name)
    await env.confirm(intents.peer_remove(name, online=name in online), force=force)
    await remove_server(api, meta, name)
    env.inform(f"server {name} was removed")
    return Result(data={"removed": name})
