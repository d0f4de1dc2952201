"""`jsctl server cluster peer-remove`."""

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.cluster.meta import remove_server
from jsctl.monitor.server.meta import fetch_meta
from jsctl.views.result import Result


@command("peer-remove", examples=["jsctl server cluster peer-remove n3"])
@argument("name", metavar="SERVER")
@option("--force", "-f", is_flag=True, help="Remove without asking, even a server that is online")
async def peer_remove(env: Env, name: str, force: bool) -> Result:
    """Removes a server from the meta group for good: its streams and consumers get replicas on other servers.
    SERVER is a name or an ID. Needs a login of the system account.
    """
    api = await env.jetstream()
    meta = await fetch_meta(await env.connection(), api.domain)
    online = {str(peer.get("name")) for peer in meta.get("replicas") or () if not peer.get("offline")}
    if name in online and not force:
        raise JsctlError(f"server {name} is online", "stop it first, or use --force")
    await env.confirm(f"Remove server {name} from the cluster for good?", force=force)
    await remove_server(api, meta, name)
    env.say(f"server {name} was removed")
    return Result(data={"removed": name})
