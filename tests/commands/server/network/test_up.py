"""`server network up`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from jsctl.localserver import processes
from tests.support.networks import Networks, networks_below
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


# jsctl that is killed when the last server has its lock and has not written its number.
KILLED = """
import os
from jsctl.__main__ import main
from jsctl.localserver import processes, startup

def start(folder, name, *rest, start=processes.start):
    if name == "n3":
        shell, flag, script = processes._EXEC
        processes._EXEC = (shell, flag, 'sleep 1; ' + script)
        start(folder, name, *rest)
        os.kill(os.getpid(), 9)
    return start(folder, name, *rest)

processes.start = start
main()
"""


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Networks]:
    """Others than those of the other verbs' tests: nothing is in them."""
    with networks_below(tmp_path_factory.mktemp("networks")) as networks:
        yield networks


@pytest.fixture(scope="module")
def pair(networks: Networks) -> str:
    """A hub and a leaf node."""
    networks("up hub-leaf --port 0 --name pair")
    return "pair"


def test_up_is_ready(networks: Networks, pair: str) -> None:
    folder = networks.folder(pair)
    assert "include ./accounts.conf" in (folder / "hub.conf").read_text()
    assert sorted(path.stem for path in (folder / "contexts/nats/context").iterdir()) == [
        "pair-hub",
        "pair-leaf",
        "pair-system",
    ]
    for domain in ("hub", "leaf"):
        assert networks.at(pair, f"stream ls --context pair-leaf --js-domain {domain} --json") == "[]\n"
    assert not (networks.home / "config" / "nats").exists()
    assert "pair" in networks("ls --names").splitlines()
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}


def test_up_again_starts_what_has_ended(networks: Networks, pair: str) -> None:
    before = processes.find(networks.folder(pair), "hub")
    leaf = processes.find(networks.folder(pair), "leaf")
    assert before and leaf
    os.kill(leaf.pid, signal.SIGKILL)
    wait_for(lambda: not leaf.is_running(), "the leaf node lives")
    assert networks.servers(pair)["leaf"] == "ended"
    assert "is not ready after 1s: server leaf is not running" in networks(f"wait {pair} --for 1s", 1)
    networks("up hub-leaf --name pair")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}
    assert processes.find(networks.folder(pair), "hub") == before


def test_a_taken_port_is_reported_and_nothing_runs(networks: Networks, pair: str) -> None:
    url = json.loads(networks.at(pair, "context info pair-hub --json"))["url"]
    port = url.rpartition(":")[2]
    assert f"port {port} is in use" in networks(f"up single --name taken --port {port}", 1)
    assert not networks.folder("taken").exists()
    store = networks.home / "elsewhere" / "taken"
    networks.cli(f"server network up single --store {store} --port {port}", status=1)
    networks.cli(f"server run single --store {store} --port {port}", status=1)
    assert not store.parent.exists()
    store.mkdir(parents=True)  # the user's own folder stays
    networks.cli(f"server network up single --store {store} --port {port}", status=1)
    assert store.exists()


def test_a_name_that_is_a_path(networks: Networks) -> None:
    assert "is not a valid name" in networks("up single --port 0 --name ../evil", 64)
    assert not (networks.folder("x").parent.parent / "evil").exists()


def test_kill_9_in_the_middle_of_up(networks: Networks) -> None:
    environ = {**os.environ, **networks.cli.environ}
    command = [sys.executable, "-c", KILLED, "server", "network", "up", "cluster", "--name", "half"]
    killed = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    folder = networks.folder("half")
    assert (folder / "n3.lock").read_text() == ""
    networks("up cluster --name half")
    assert set(networks.servers("half").values()) == {"up"}
    assert all(node["url"] for node in json.loads((folder / "network.json").read_text())["nodes"])
    networks("down half --force")
    assert not folder.exists()


def test_contexts_of_the_user_are_never_touched(networks: Networks, pair: str) -> None:
    networks.cli("context add pair-hub --server nats://mine:4222", status=0)
    networks("up hub-leaf --name pair --into-contexts")
    names = networks.cli("context ls --names", status=0).out.split()
    assert names == ["pair-hub", "pair-hub-2", "pair-leaf", "pair-system"]
    assert networks.cli("context info pair-hub --json", status=0).json["url"] == "nats://mine:4222"
