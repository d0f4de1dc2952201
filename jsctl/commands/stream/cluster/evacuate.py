"""`jsctl stream cluster evacuate`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_stream, pick_peer
from jsctl.env import Env
from jsctl.jetstream import api_levels
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.cluster.peers import check_in_cluster, check_peer, evacuate_peer
from jsctl.jetstream.state import list_peers
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result, Text
from jsctl.views.stream.removal import peer_intent


@command("evacuate", examples=["jsctl stream cluster evacuate ORDERS n2"])
@argument("stream", default="")
@argument("peer", default="")
@destructive("Move without asking")
async def evacuate(env: Env, stream: str, peer: str, force: bool) -> Result:
    """Move a stream and its consumers from a server to another one that the cluster picks; the server leaves
    when the other has everything. nats-server 2.15 is needed.
    """
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    check_in_cluster(info)
    peer = await pick_peer(env, peer, list_peers(info))
    check_peer(info, peer)
    await api_levels.require(api, {ApiLevel.V2_15: ["cluster evacuate"]})
    await env.confirm(peer_intent("move", info, f" from server {peer} to another", peer), force=force)
    await evacuate_peer(api, name, peer)
    return Result(
        [Text(f"Requested that Stream {name} leaves server {peer}")], data={"stream": name, "peer": peer}
    )
