"""`server network isolate`."""

import asyncio
from pathlib import Path

import pytest

from jsctl.errors import NotFound
from jsctl.localserver.readiness import read_context_settings
from jsctl.localserver.ready import find_unjoined
from jsctl.testing import Network
from tests.support.networks import Networks
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster

THREE = """
name: three
accounts: {SYS: {system: true, users: {admin: admin}}, APP: {jetstream: true, users: {app: app}}}
no_login: app
clusters:
  east: {servers: [east]}
  west: {servers: [west], cluster_name: W}
  south: {servers: [south]}
  leaf: {domain: leaf, servers: [leaf], remotes: [{to: west, user: app}]}
gateways: [east, west, south]
contexts: {east: {cluster: east, user: app}, system: {cluster: east, user: admin}}
"""


def test_a_cluster_is_cut_off_from_all_others(tmp_path: Path) -> None:
    (tmp_path / "three.yaml").write_text(THREE)
    with Network(tmp_path / "three.yaml") as net:
        servers = {name: read_context_settings({"url": url}) for name, url in net.servers.items()}

        def list_cut() -> set[tuple[str, str]]:
            return set(asyncio.run(find_unjoined(servers)))

        assert not list_cut()
        net.isolate("west")
        cut = {(one, other) for one in servers for other in servers if (one == "west") != (other == "west")}
        wait_for(lambda: cut <= list_cut(), "the cut", seconds=60)
        # The leaf node hangs on west.
        rest = {(one, other) for one in servers for other in servers if (one == "leaf") != (other == "leaf")}
        assert list_cut() == cut | rest
        links = net.jsctl("server network link")
        assert links.count("without W") == 2 and links.count("down") == 2
        assert len(net.missing()) == 4
        cli = Cli(Path(net.environ["XDG_CONFIG_HOME"]))
        assert "Cluster W (SERVER_SILENT)" in cli("doctor --context system", status=1).out
        with pytest.raises(NotFound, match="its clusters are"):
            net.isolate("north")
        net.heal()
        assert not list_cut()


def test_a_cluster_without_links(networks: Networks) -> None:
    networks("up single --port 0 --name alone")
    assert "has no links" in networks("isolate local -n alone", 64)
    networks("down alone --force")
