"""`jsctl server cluster peer-remove`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.data_loss import Losing, LossOptions, describe_losses, loss_flags
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.cluster.meta import check_follower, remove_server
from jsctl.jetstream.message.data_loss import UNKNOWN, measure_stream
from jsctl.monitor.server.meta import fetch_meta
from jsctl.monitor.server.stored import fetch_only_copies
from jsctl.views.result import Result
from jsctl.views.server import intents


@command("peer-remove", examples=["jsctl server cluster peer-remove n3"])
@argument("name", metavar="SERVER")
@loss_flags
@destructive("Remove without asking, even a server that is online")
async def peer_remove(env: Env, name: str, permits: LossOptions, force: bool) -> Result:
    """Remove a server from the meta group for good: its streams and consumers get replicas on other servers.
    Streams with one replica are created there again, without messages; if the server is offline, nobody knows
    how many it has. SERVER is a name or an ID. A login of the system account is needed.
    """
    api = await env.jetstream()
    meta = await fetch_meta(await env.connection(), api.domain)
    peer = check_follower(meta, name)
    name, is_online = str(peer.get("name") or name), not peer.get("offline")
    if is_online and not force:
        raise JsctlError(f"server {name} is online", "stop it first, or use --force")
    losing = [Losing(f"server {name}", {"config": {"name": name}}, UNKNOWN)]
    if is_online:
        copies = await fetch_only_copies(await env.connection(), api.domain, name)
        losing = [Losing(f"Stream {info['name']}", info, measure_stream(info)) for info in copies]
    intent = intents.peer_remove(name, describe_losses(losing), online=is_online)
    await permits.confirm(env, intent, losing, force=force)
    await remove_server(api, meta, name)
    env.inform(f"server {name} was removed")
    return Result(data={"removed": name})
