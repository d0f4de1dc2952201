"""`jsctl server stop`."""

from pathlib import Path

from jsctl import registry
from jsctl.commands.cli import argument, command
from jsctl.contexts.store import is_name
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.localserver import contexts
from jsctl.localserver.network import stop as stop_network


@command("stop", examples=["jsctl server stop local", "jsctl server stop ./jsctl-demo"])
@argument("network", metavar="CONTEXT|DIR")
async def stop(env: Env, network: str) -> None:
    """Name the servers by one of their contexts, or by their folder."""
    folder = Path(network).expanduser()
    if is_name(network) and env.contexts.exists(network):
        owner = contexts.folder_of(env.contexts, network)
        if owner is None:
            raise NotFound(f"context {network!r} does not belong to a server that jsctl started")
        folder = owner
    elif not folder.is_dir():
        raise NotFound(f"there is no context and no folder {network!r}", registry.noun("context").hint)
    await stop_network(folder.absolute(), env.environ)
    env.say(f"stopped the servers in {folder}")
