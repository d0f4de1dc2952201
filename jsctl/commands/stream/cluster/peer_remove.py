"""`jsctl stream cluster peer-remove`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.options.data_loss import Losing, LossOptions, loss_flags
from jsctl.commands.picking.pick import open_stream, pick_peer
from jsctl.env import Env
from jsctl.jetstream.cluster.peers import check_peer, check_removable, remove_peer
from jsctl.jetstream.message.data_loss import NOTHING, measure_stream
from jsctl.jetstream.state import list_peers
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result, Text
from jsctl.views.stream.removal import peer_intent


@command("peer-remove", examples=["jsctl stream cluster peer-remove ORDERS n2"])
@argument("stream", default="")
@argument("peer", default="")
@loss_flags
@destructive("Do not ask; also remove the only peer, with its data")
async def peer_remove(env: Env, stream: str, peer: str, permits: LossOptions, force: bool) -> Result:
    api, name = await open_stream(env, stream)
    info = await streams.fetch_info(api, name)
    check_removable(info, force=force)
    peer = await pick_peer(env, peer, list_peers(info))
    check_peer(info, peer)
    loss = measure_stream(info) if len(list_peers(info)) == 1 else NOTHING
    intent = peer_intent(f"remove peer {peer} from", info, f", which deletes {loss}" if loss else "", peer)
    await permits.confirm(env, intent, [Losing(f"Stream {name}", info, loss)], force=force)
    await remove_peer(api, name, peer)
    return Result(
        [Text(f"Requested removal of peer {peer} from Stream {name}")], data={"stream": name, "peer": peer}
    )
