"""`jsctl stream cluster peer-remove`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_stream
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result, Text


@command("peer-remove", examples=["jsctl stream cluster peer-remove ORDERS n2"])
@argument("stream", default="")
@argument("peer", default="")
@option("--force", "-f", is_flag=True, help="Do not ask; also remove the only peer, with its data")
async def peer_remove(env: Env, stream: str, peer: str, force: bool) -> Result:
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    info = await streams.info(api, name)
    known = raft.peers(info)
    if not (info.get("cluster") or {}).get("name"):
        raise JsctlError(f"stream {name} is not in a cluster", "only a cluster has peers to remove")
    if len(known) == 1 and not force:
        raise JsctlError(
            f"{known[0]} is the only peer of stream {name}: removing it loses the data",
            "--force does it all the same",
        )
    if not peer:
        if not env.can_ask:
            raise BadInput("the peer's name is missing", f"give PEER, one of {', '.join(sorted(known))}")
        peer = str(await env.prompter.select("Select a Peer", known, flag="PEER"))
    if peer not in known:
        raise NotFound(f"{peer} is no peer of stream {name}", f"its peers are {', '.join(sorted(known))}")
    await env.confirm(f"Really remove peer {peer} from Stream {name}", force=force)
    await raft.remove_peer(api, name, peer)
    return Result(
        [Text(f"Requested removal of peer {peer} from Stream {name}")], data={"stream": name, "peer": peer}
    )
