"""`jsctl server stop`."""

from pathlib import Path

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, dry_run_flag
from jsctl.contexts.store import is_name
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.localserver import contexts
from jsctl.localserver.folder import is_in_use
from jsctl.localserver.network import list_running
from jsctl.localserver.network import stop as stop_network
from jsctl.localserver.networks import find_network
from jsctl.prompts.prompter import Choice
from jsctl.views.result import Result
from jsctl.views.server import intents


@command("stop", examples=["jsctl server stop local", "jsctl server stop ./jsctl-demo"])
@argument("name", metavar="[CONTEXT|DIR]", default="")
@dry_run_flag("Only show which servers would be stopped")
async def stop(env: Env, name: str) -> Result:
    """Find the servers by one of their contexts, by the name of their network, or by their folder. Without a
    name, show a list to pick from.
    """
    name = name or await _pick_folder(env)
    folder = expand_home(name)
    if is_name(name) and env.contexts.exists(name):
        owner = contexts.find_folder(env.contexts, name)
        if owner is None:
            raise NotFound(f"context {name!r} does not belong to a server that jsctl started")
        folder = owner
    elif not folder.is_dir():
        try:
            folder = find_network(env.environ, name).folder
        except NotFound:
            raise NotFound(
                f"there is no context, network or folder {name!r}",
                registry.find_noun("context").format_hint(),
            ) from None
    if env.dry_run and (names := list_running(folder.absolute())):
        env.announce(intents.change_servers("stop", str(folder), names))
    await stop_network(folder.absolute(), env.environ)
    env.inform(f"stopped the servers in {folder}")
    return Result(data={"folder": str(folder), "stopped": True})


async def _pick_folder(env: Env) -> str:
    """Return the folder of running servers that the user picks from a list."""
    if not env.can_ask:
        raise BadInput("the servers to stop are missing", "specify CONTEXT or DIR")
    choices: dict[Path, str] = {}
    for context in env.contexts.names():
        owner = contexts.find_folder(env.contexts, context)
        if owner is not None and is_in_use(owner):
            choices.setdefault(owner, f"{context}, in {owner}")
    if not choices:
        raise NotFound(
            "no server that jsctl started runs on this machine", f"{build_line('server run')} starts one"
        )
    entries = [Choice(title, str(folder)) for folder, title in choices.items()]
    return str(await env.prompter.select("Select the servers to stop", entries, flag="CONTEXT|DIR"))
