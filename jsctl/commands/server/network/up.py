"""`jsctl server network up`."""

import click

from jsctl.base.command_lines import build_line
from jsctl.base.signals import Stopped, stoppable
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.places.repeat import warn_of_variables
from jsctl.env import Env
from jsctl.localserver import binary, folder
from jsctl.localserver.network import open_private_store
from jsctl.localserver.networks import VARIABLE, bring_up, build_label, copy_contexts
from jsctl.localserver.ready import wait_until_ready
from jsctl.localserver.short_forms import load_named
from jsctl.localserver.spec_reader import BUILTIN
from jsctl.localserver.update import update_network
from jsctl.views.result import Result
from jsctl.views.server import network as view


@command(
    "up",
    examples=[
        "jsctl server network up hub-spokes",
        "jsctl server network up shop.yaml --into-contexts",
        "jsctl server network up hub-leaf --port 0 --name mine",
    ],
)
@argument("source", metavar="NAME|FILE", label="Network to start: a name or a file")
@option("--name", metavar="NAME", default="", help="Name of the network, instead of that in its file")
@option("--store", metavar="DIR", default="", help="Folder for data, configurations and logs")
@option(
    "--port", "-p", type=click.IntRange(0, 65535), help="Port of the first server; 0: free ports everywhere"
)
@option("--into-contexts", is_flag=True, help="Copy the network's contexts to yours, which stay as they are")
async def up(env: Env, source: str, name: str, store: str, port: int | None, into_contexts: bool) -> Result:
    """Start real nats-servers that continue to run after this command, and wait until all is ready: servers
    healthy, a leader in every JetStream domain. If the network already runs, start servers that have ended,
    and apply changes of accounts, users and remotes in its file.

    Its contexts are in a folder of its own: jsctl server network shell opens a shell that sees them.
    """
    spec = load_named(source, name)
    for cluster in spec.clusters:
        if cluster.jetstream is not None and len(cluster.servers) == 2:
            env.say(f"cluster {cluster.name} has 2 servers and no leader without one of them; 3 can lose one")
    target_folder = (expand_home(store) if store else folder.get_default(env.environ, spec.name)).absolute()
    path = source if source in BUILTIN else str(expand_home(source).absolute())
    server = binary.find(env.environ)
    try:
        async with stoppable():
            running, started = await bring_up(spec, target_folder, path, server, env.environ, port)
            changes = [] if started else await update_network(running, spec, path, server, env.environ)
            await wait_until_ready(running, env.inform)
    except Stopped:
        raise Stopped(
            f"stopped; {build_line('server network status', spec.name)} shows what has started"
        ) from None
    for sentence in changes:
        env.inform(sentence)
    for file in started.edited if started else ():
        env.say(f"{target_folder / file} was edited, and is used unchanged")
    names = copy_contexts(running, env.environ) if into_contexts else {}
    private_store = open_private_store(target_folder)
    contexts = [
        {
            "context": names.get(context, context),
            "description": private_store.load(context).raw.get("description", ""),
            "url": private_store.load(context).raw.get("url", ""),
        }
        for context in private_store.names()
    ]
    env.inform(f"nats-server {running.state.version} runs; everything is in {target_folder}")
    if into_contexts:
        warn_of_variables(env, names.values())
    if not into_contexts and env.environ.get(VARIABLE) != str(target_folder):
        label = build_label(running, env.environ)
        env.inform(f"to work in it:  {build_line('server network shell', label)}")
        env.inform(f"to end it:      {build_line('server network down', label)}")
    return view.started(running, contexts)
