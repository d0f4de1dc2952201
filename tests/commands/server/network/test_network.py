"""`server network`: real networks that are started, broken and mended."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.localserver import processes
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

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


class Networks:
    """jsctl with a data folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cli = Cli(home / "config")
        self.cli.environ["XDG_DATA_HOME"] = str(home / "data")

    def __call__(self, line: str, status: int = 0) -> str:
        outcome = self.cli(f"server network {line}", status=status)
        return outcome.out + outcome.err

    def folder(self, name: str) -> Path:
        return self.home / "data" / "jsctl" / name

    def at(self, name: str, line: str, status: int = 0) -> str:
        """Run a command with the contexts of a network."""
        variables = self.cli(f"server network env {name} --json", status=0).json
        return self.cli(line, environ=variables, status=status).out

    def servers(self, name: str) -> dict[str, str]:
        """What each server does."""
        document = self.cli(f"server network status {name} --json").json
        return {server["server"]: server["status"] for server in document["servers"]}


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Networks]:
    networks = Networks(tmp_path_factory.mktemp("networks"))
    yield networks
    for folder in (networks.home / "data" / "jsctl").glob("*"):
        for process in processes.find_all(folder).values():
            os.kill(process.pid, signal.SIGKILL)


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
    wait_for(lambda: not leaf.running(), "the leaf node lives")
    assert networks.servers(pair)["leaf"] == "ended"
    assert "is not ready after 1s: server leaf does not run" in networks(f"wait {pair} --for 1s", 1)
    networks("up hub-leaf --name pair")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}
    assert processes.find(networks.folder(pair), "hub") == before


def test_a_server_in_lame_duck_mode_is_started_anew(networks: Networks, pair: str) -> None:
    before = processes.find(networks.folder(pair), "leaf")
    assert before
    networks(f"lame-duck leaf -n {pair}")
    networks(f"resume leaf -n {pair}")  # it was not paused
    assert networks.servers(pair) == {"hub": "up", "leaf": "lame duck"}
    networks(f"start leaf -n {pair}")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}
    after = processes.find(networks.folder(pair), "leaf")
    assert after and after.pid != before.pid
    networks(f"wait {pair}")


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
        assert "hub does not run; jsctl server network start hub" in networks(f"{verb} hub -n {pair}", 1)
    networks(f"start hub --network {pair}")
    networks(f"wait {pair}")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}


def test_a_slow_link(networks: Networks, pair: str) -> None:
    networks(f"link delay leaf-hub --by 150ms -n {pair}")
    began = time.monotonic()
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf")
    assert time.monotonic() - began > 0.3
    networks(f"link up leaf-hub -n {pair}")
    networks(f"link drop leaf-hub -n {pair}")
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf --timeout 500ms", status=4)
    networks(f"link up leaf-hub -n {pair}")
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf")


def test_pause_and_resume(networks: Networks, pair: str) -> None:
    networks(f"pause leaf -n {pair}")
    assert networks.servers(pair)["leaf"] == "paused"
    networks.at(pair, "stream ls --context pair-leaf --timeout 500ms", status=4)
    networks(f"resume leaf -n {pair}")
    assert "[]" not in networks.at(pair, "stream ls --context pair-leaf --json")


def test_the_logs(networks: Networks, pair: str) -> None:
    lines = networks(f"logs hub --lines 3 -n {pair}").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("hub: [") for line in lines)


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("kill -n pair", 64, "name servers or clusters, or use --all"),
        ("kill hup -n pair", 3, "network pair has no server 'hup'; its servers are hub, leaf"),
        ("status pairs", 3, "there is no network 'pairs'; did you mean pair?"),
        ("link down leaf-hup -n pair", 3, "network pair has no link 'leaf-hup'; did you mean leaf-hub?"),
        ("link delay leaf-hub -n pair", 64, "delay needs --by"),
        ("link sideways leaf-hub -n pair", 64, "'sideways' is not a mode of a link"),
        ("scale hub 3 -n pair", 64, "hub is a single server"),
        ("up none.yaml", 3, "there is no network and no file 'none.yaml'"),
        ("down pair", 64, "give --force or --keep-data"),
    ],
)
def test_what_is_wrong(networks: Networks, pair: str, line: str, status: int, message: str) -> None:
    result = networks(line, status)
    assert message in result
    assert len(result.splitlines()) == 1


def test_a_shell_of_a_network_that_has_gone(networks: Networks) -> None:
    outcome = networks.cli("server network link", environ={"JSCTL_NETWORK": "gone"}, status=3)
    assert "there is no network 'gone', which JSCTL_NETWORK names; unset it" in outcome.err


def test_a_taken_port_is_reported_and_nothing_runs(networks: Networks, pair: str) -> None:
    url = json.loads(networks.at(pair, "context info pair-hub --json"))["url"]
    port = url.rpartition(":")[2]
    assert f"port {port} is in use" in networks(f"up single --name taken --port {port}", 1)
    assert not processes.find_all(networks.folder("taken"))


def test_a_full_disk_keeps_no_server_running(networks: Networks, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "network.json")

    networks("up single --port 0 --name full")
    folder = networks.folder("full")
    server = processes.find(folder, "server")
    assert server
    with monkeypatch.context() as patch:
        patch.setattr("jsctl.localserver.networks.save_state", save)
        assert "No space left on device" in networks("stop --all -n full", 1)
        assert not server.running()
    networks("start --all -n full")
    with monkeypatch.context() as patch:
        patch.setattr("jsctl.localserver.network.save_state", save)
        networks("down full --force")
    assert not folder.exists()


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
    networks("add cluster --network half")
    assert len(networks.servers("half")) == 4
    networks.at("half", "stream add R3 --subjects r3 --replicas 3 --defaults --context half-cluster")
    assert "Would stop cluster-4 of network half" in networks("scale cluster 3 -n half --dry-run")
    assert "Would start cluster-5 of network half" in networks("scale cluster 5 -n half --dry-run")
    assert len(networks.servers("half")) == 4
    networks("scale cluster 3 -n half")
    networks("down half --keep-data")
    assert not processes.find_all(folder)
    networks("up cluster --name half")
    assert networks.at("half", "stream ls --names --context half-cluster").strip() == "R3"
    networks("down half --force")
    assert not folder.exists()


def test_contexts_of_the_user_are_never_touched(networks: Networks, pair: str) -> None:
    networks.cli("context add pair-hub --server nats://mine:4222", status=0)
    networks("up hub-leaf --name pair --into-contexts")
    names = networks.cli("context ls --names", status=0).out.split()
    assert names == ["pair-hub", "pair-hub-2", "pair-leaf", "pair-system"]
    assert networks.cli("context info pair-hub --json", status=0).json["url"] == "nats://mine:4222"


def test_dry_runs_change_nothing(networks: Networks, pair: str) -> None:
    def state() -> dict[str, int]:
        return {name: one.pid for name, one in processes.find_all(networks.folder(pair)).items()}

    networks(f"start --all -n {pair}")
    before = state()
    for verb in ("stop", "restart", "kill", "pause", "lame-duck"):
        assert f"Would {verb} hub of network {pair}" in networks(f"{verb} hub -n {pair} --dry-run")
    assert f"Would stop network {pair}; its data" in networks(f"down {pair} --dry-run --keep-data")
    gone = json.loads(networks(f"down {pair} --dry-run --json"))
    assert gone["dry_run"] and gone["folder"] == str(networks.folder(pair))
    named = json.loads(networks.cli(f"server stop {networks.folder(pair)} --dry-run --json", status=0).out)
    assert {"hub", "leaf"} <= set(named["servers"])
    assert state() == before
    networks(f"kill nothing -n {pair} --dry-run", 3)
