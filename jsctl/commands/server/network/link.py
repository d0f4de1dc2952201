"""`jsctl server network link`."""

from jsctl.base.command_lines import build_line
from jsctl.base.units import MS
from jsctl.commands.cli import DURATION, SIZE, argument, command, option
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.localserver.links import disturb
from jsctl.localserver.networks import find_network
from jsctl.views.result import Result
from jsctl.views.server import network as view

MODES = ("up", "down", "delay", "limit", "drop")


@command(
    "link",
    examples=[
        "jsctl server network link",
        "jsctl server network link down spoke-1-hub",
        "jsctl server network link delay spoke-1-hub --by 200ms",
        "jsctl server network link limit spoke-1-hub --to 100KB",
        "jsctl server network link up --all",
    ],
)
@argument("mode", required=False, default="", metavar="[up|down|delay|limit|drop]")
@argument("links", nargs=-1, metavar="[LINK]...")
@option("--all", "-a", "everything", is_flag=True, help="All links")
@option("--by", "delay", type=DURATION, metavar="DURATION", help="delay: the delay in each direction")
@option("--to", "limit", type=SIZE, metavar="SIZE", help="limit: bytes per second in each direction")
@choose_network
async def link(
    env: Env,
    mode: str,
    links: tuple[str, ...],
    everything: bool,
    delay: int | None,
    limit: int | None,
    network: str,
) -> Result:
    """Disturb connections between clusters: leaf node connections, gateways, and those of clients if the
    network's file has `links: [leaf, gateway, client]`. Without a mode, show the links.

    down ends connections and refuses new ones; drop lets nothing pass, with connections open; up undoes
    everything. Servers of one cluster are connected directly: disturb these with pause and kill.
    """
    local = find_network(env.environ, network)
    if not mode:
        return view.link_states(local)
    if mode not in MODES:
        raise BadInput(f"{mode!r} is not a valid mode", f"use {', '.join(MODES)}")
    if bool(links) == everything:
        raise BadInput(
            "the links are missing",
            f"name some, or use --all; {build_line('server network link')} shows them",
        )
    for flag, value, kind in (("--by", delay, "delay"), ("--to", limit, "limit")):
        if (value is not None) != (mode == kind):
            raise BadInput(
                f"{mode} does not take {flag}" if value is not None else f"{mode} needs {flag}",
                build_line(
                    "server network link", kind, "LINK", flags=[flag, "200ms" if kind == "delay" else "100KB"]
                ),
            )
    if everything and not local.state.links:
        raise NotFound(f"network {local.state.name} has no links", view.NO_LINKS)
    names = list(local.state.links) if everything else links
    if mode == "up":
        await disturb(local, names)
    elif mode == "delay":
        await disturb(local, names, delay_ms=(delay or 0) // MS)
    elif mode == "limit":
        await disturb(local, names, limit=limit)
    else:
        await disturb(local, names, **{mode: True})
    return view.link_states(local)
