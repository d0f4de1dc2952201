"""The links of a network: what passes a relay, and how it is disturbed."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.similar_names import find_nearest
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.localserver import folder, processes, relay
from jsctl.localserver.network import RELAY, write_links
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.spec import GATEWAY
from jsctl.localserver.state import save_state

LINK_SETTINGS = ("down", "drop", "delay_ms", "limit", "without")


async def disturb(network: LocalNetwork, names: Sequence[str], **settings: Any) -> None:
    """Change links. settings: some of LINK_SETTINGS; without any, the links are restored.

    Raises NotFound, BadInput.
    """
    links = network.state.links
    for key, unit in (("delay_ms", "1ms"), ("limit", "1 byte per second")):
        if key in settings and settings[key] < 1:
            name = "delay" if key == "delay_ms" else "limit"
            raise BadInput(
                f"a {name} must be {unit} or more", f"{build_line('server network link up')} removes a {name}"
            )
    for name in names:
        if name not in links:
            nearest = find_nearest(name, list(links))
            hint = f"did you mean {nearest}? " if nearest else ""
            raise NotFound(
                f"network {network.state.name} has no link {name!r}",
                f"{hint}its links are {', '.join(links)}" if links else "it has no links",
            )
        for key in LINK_SETTINGS if not settings else ():
            links[name].pop(key, None)
        links[name].update(settings)
    await _apply(network)


async def isolate(network: LocalNetwork, clusters: Sequence[str]) -> None:
    """Cut clusters off from all others: end the connections to and from them, and refuse new ones.

    Raises NotFound, BadInput for a cluster with connections that pass no relay.
    """
    state = network.state
    for cluster in clusters:
        network.find_cluster(cluster)
        own = [link for link in state.links.values() if cluster in link.get("ends", ())]
        if not own:
            raise BadInput(
                f"cluster {cluster} of network {state.name} has no links",
                "`links: [leaf, gateway]` in the network's file makes its connections pass a relay",
            )
        for link in own:
            link["down"] = True
        for gateway in (str(link["gateway"]) for link in own if link["kind"] == GATEWAY):
            for link in state.links.values():
                if link["kind"] == GATEWAY and link not in own:
                    link["without"] = sorted({*link.get("without", ()), gateway})
    await _apply(network)


async def _apply(network: LocalNetwork) -> None:
    with folder.changing(network.folder):
        save_state(network.folder, network.state)
        write_links(network.folder, network.state)
        if processes.is_running(network.folder, RELAY):
            await _wait_for_relay(network.folder)


async def _wait_for_relay(network_folder: Path) -> None:
    """Wait until the relay has applied the written links. Raises JsctlError."""
    written = str((network_folder / relay.FILE).stat().st_mtime_ns)
    for _ in range(250):
        with contextlib.suppress(FileNotFoundError):
            if (network_folder / relay.APPLIED).read_text() == written:
                return
        await asyncio.sleep(0.02)
    raise JsctlError("the relay of the network does not answer", f"its log is {network_folder / RELAY}.log")
