"""A network in a folder of the user's choice: its name finds it; it is ready after servers were evacuated."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from jsctl.localserver import folder, processes
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """jsctl with a data folder of its own."""
    cli = Cli(tmp_path / "config")
    cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    yield cli
    for process in processes.find_all(tmp_path / "elsewhere").values():
        os.kill(process.pid, signal.SIGKILL)


def test_it_is_found_by_its_name_and_ready_after_an_evacuation(cli: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    said = cli(
        ["server", "network", "up", "cluster", "--port", "0", "--store", str(elsewhere)],
        terminal_error=True,
        status=0,
    ).err
    assert "server network down cluster\n" in said
    assert cli("server network ls --names", status=0).out == "cluster\n"
    variables = cli("server network env cluster --json", status=0).json
    assert variables["JSCTL_NETWORK"] == "cluster"

    def inside(line: str) -> str:
        return cli(line, environ=variables, status=0).out

    inside("stream add S --subjects s --replicas 3 --defaults --context cluster")

    def evacuated(server: str) -> bool:
        # Refused with 10023 while the group settles after the one before.
        line = f"server cluster evacuate {server} --force --context system"
        return cli(line, environ=variables).status == 0

    def left(server: str) -> bool:
        info = cli("stream info S --context cluster --json --timeout 2s", environ=variables)
        if info.status:  # between two leaders
            return False
        cluster = info.json["cluster"]
        return server not in [
            cluster.get("leader"),
            *(peer["name"] for peer in cluster.get("replicas") or ()),
        ]

    for server in ("n3", "n2"):
        wait_for(partial(evacuated, server), "the server is not evacuated")
        wait_for(partial(left, server), "the stream stays")
    inside("server network wait --for 10s")
    [stream] = cli("server network status --json", environ=variables, status=0).json["streams"]
    assert stream["replicas"] == 3

    cli("server network down cluster --force", status=0)
    assert not elsewhere.exists()
    assert cli("server network ls --names", status=0).out == ""


def test_two_of_one_name_have_folders(cli: Cli, tmp_path: Path) -> None:
    first, second = tmp_path / "data" / "jsctl" / "mine", tmp_path / "elsewhere"
    for path in (first, second):
        path.mkdir(parents=True)
        (path / "network.json").write_text(
            '{"name": "mine", "source": "", "version": "", "nodes": [], "logins": [], "links": {},'
            ' "temporary": false, "ports": {}, "scale": {}}'
        )
    folder.remember(cli.environ, second)
    error = cli("server network status mine", status=64).err
    assert str(first) in error
    assert str(second) in error
    cli(["server", "network", "down", str(second), "--force"], status=0)
    cli("server network status mine", status=0)
