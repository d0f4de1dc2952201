"""`jsctl server network` and its commands that take a network alone."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from jsctl.errors import NotFound
from jsctl.localserver import processes
from jsctl.localserver.readiness import read_context_settings
from jsctl.localserver.ready import find_unjoined
from jsctl.testing import Network
from tests.support.networks import Networks
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.mark.cluster
def test_ls(networks: Networks, pair: str) -> None:
    rows = json.loads(networks("ls --json"))
    assert pair in [row["network"] for row in rows]
    assert json.loads(networks("ls --names --json")) == networks("ls --names").split()
    assert pair in networks("ls")
    assert "unexpected" in networks(f"ls {pair}", 64)


@pytest.mark.cluster
def test_down(networks: Networks) -> None:
    networks("up single --port 0 --name short")
    folder = networks.folder("short")
    assert json.loads(networks("down short --dry-run --json"))["folder"] == str(folder)
    assert "use --force or --keep-data" in networks("down short", 64)
    assert processes.find_all(folder)
    assert f"its data is in {folder}" in networks("down short --keep-data")
    assert not processes.find_all(folder)
    networks("down short --force")
    assert not folder.exists()
    assert "there is no network 'short'" in networks("down short --force", 3)


@pytest.mark.cluster
def test_status(networks: Networks, pair: str) -> None:
    document = json.loads(networks(f"status {pair} --json"))
    assert {server["server"]: server["status"] for server in document["servers"]} == {
        "hub": "up",
        "leaf": "up",
    }
    shown = networks(f"status {pair}")
    assert "hub" in shown and "leaf" in shown
    assert "there is no network 'none'" in networks("status none", 3)
    assert "100ms" in networks(f"status {pair} --watch 1ms", 64)


@pytest.mark.cluster
def test_wait_for_mirrors_and_faults(networks: Networks, pair: str) -> None:
    networks.at(pair, "stream add SITE --subjects site --js-domain leaf --defaults")
    networks.at(pair, "pub site hello --count 500 -J --context pair-leaf")
    networks.at(pair, "stream add COPY --mirror SITE@leaf --js-domain hub --defaults")
    networks(f"wait {pair}")
    assert json.loads(networks.at(pair, "stream info COPY --json"))["state"]["messages"] == 500
    assert re.search(r"COPY +hub-server +1/1 +500 +0\n", networks(f"status {pair}"))
    networks.at(pair, "stream rm COPY --force")  # after a fault it may retry for a minute
    networks(f"link down leaf-hub --network {pair}")
    assert "leaf-hub  leaf  down" in networks(f"status {pair}", 1)
    networks.at(pair, "stream info SITE --js-domain leaf", status=4)
    networks(f"link up --all --network {pair}")
    networks(f"kill hub --network {pair}")
    assert networks.servers(pair) == {"hub": "killed", "leaf": "up"}
    for verb in ("pause", "resume", "kill", "lame-duck"):
        assert "hub is not running; jsctl server network start hub" in networks(f"{verb} hub -n {pair}", 1)
    networks(f"start hub --network {pair}")
    networks(f"wait {pair}")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}


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


@pytest.mark.cluster
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


@pytest.mark.cluster
def test_a_cluster_without_links(networks: Networks) -> None:
    networks("up single --port 0 --name alone")
    assert "has no links" in networks("isolate local -n alone", 64)
    networks("down alone --force")
