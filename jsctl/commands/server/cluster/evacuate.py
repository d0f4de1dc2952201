"""`jsctl server cluster evacuate`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.jetstream.cluster.meta import evacuate_server
from jsctl.monitor.server.meta import fetch_meta
from jsctl.monitor.server.stored import fetch_server_storage
from jsctl.views.result import Result, Text
from jsctl.views.server import intents


@command("evacuate", examples=["jsctl server cluster evacuate n3"])
@argument("name", metavar="SERVER")
@destructive("Do not ask")
async def evacuate(env: Env, name: str, force: bool) -> Result:
    """Move streams and consumers away, so that the server can be taken out of the cluster; those with one
    replica are moved, too, without loss. The move continues after this command has ended: jsctl server report
    jetstream shows its progress. If no other server has room, a stream has one replica less. SERVER is a name
    or an ID. A login of the system account, and nats-server 2.15, are needed.
    """
    api = await env.jetstream()
    meta = await fetch_meta(await env.connection(), api.domain)
    peers = {str(peer.get("name")): str(peer.get("peer", "")) for peer in meta.get("replicas") or ()}
    peers.setdefault(str(meta.get("leader") or ""), str(meta.get("peer", "")))
    if name not in peers and name not in peers.values():
        raise NotFound(f"the meta group has no server {name!r}", f"its servers: {', '.join(sorted(peers))}")
    if env.dry_run or not force:
        stored = await fetch_server_storage(await env.connection(), api.domain, name)
        await env.confirm(intents.evacuate(name, stored), force=force)
    await evacuate_server(api, name)
    return Result(
        [Text(f"The streams and consumers of server {name} are being moved")], data={"evacuated": name}
    )
