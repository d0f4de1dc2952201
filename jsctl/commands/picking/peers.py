"""The server of a stream or consumer that a command line names."""

from collections.abc import Collection

from jsctl.env import Env
from jsctl.errors import BadInput


async def pick_peer(env: Env, peer: str, names: Collection[str]) -> str:
    """Return the peer that was named, or one of `names` that the user picks.

    Raises BadInput without a terminal.
    """
    if peer:
        return peer
    if not env.can_ask:
        raise BadInput("the peer's name is missing", f"specify PEER, one of {', '.join(sorted(names))}")
    return str(await env.prompter.select("Select a Peer", list(names), flag="PEER"))
