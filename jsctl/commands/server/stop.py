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
@argument("name", metavar="CONTEXT|DIR")
async def stop(env: Env, name: str) -> None:
    """Name the servers by one of their contexts, or by their folder."""
    folder = Path(name).expanduser()
    if is_name(name) and env.contexts.exists(name):
        owner = contexts.folder_of(env.contexts, name)
        if owner is None:
            raise NotFound(f"context {name!r} does not belong to a server that jsctl started")
        folder = owner
    elif not folder.is_dir():
        raise NotFound(f"there is no context and no folder {name!r}", registry.noun("context").hint)
    await stop_network(folder.absolute(), env.environ)
    env.say(f"stopped the servers in {folder}")
