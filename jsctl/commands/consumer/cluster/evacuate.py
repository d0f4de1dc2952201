"""`jsctl consumer cluster evacuate`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.picking.pick import open_consumer, pick_peer
from jsctl.env import Env
from jsctl.jetstream import api_levels
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.cluster.peers import check_consumer_peer, evacuate_consumer
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.state import list_peers
from jsctl.views.consumer.intent import change_intent
from jsctl.views.result import Result, Text


@command("evacuate", examples=["jsctl consumer cluster evacuate ORDERS NEW n2"])
@argument("stream", default="")
@argument("consumer", default="")
@argument("peer", default="")
@destructive("Move without asking")
async def evacuate(env: Env, stream: str, consumer: str, peer: str, force: bool) -> Result:
    """Move a consumer from a server to another server of its stream, which the cluster picks. nats-server
    2.15 is needed.
    """
    api, stream, consumer = await open_consumer(env, stream, consumer)
    info = await consumers.fetch_info(api, stream, consumer)
    if names := list_peers(info):
        peer = await pick_peer(env, peer, names)
    check_consumer_peer(info, peer)
    await api_levels.require(api, {ApiLevel.V2_15: ["cluster evacuate"]})
    where = f" from server {peer} to another"
    await env.confirm(change_intent("move", info, where, peer=peer), force=force)
    await evacuate_consumer(api, stream, consumer, peer)
    return Result(
        [Text(f"Requested that Consumer {stream} > {consumer} leaves server {peer}")],
        data={"stream": stream, "consumer": consumer, "peer": peer},
    )
