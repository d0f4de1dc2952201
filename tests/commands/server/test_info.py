"""`server info`, `ping`, `account info`, `config reload`, and what a single server refuses."""

from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


def test_a_server(system: Cli) -> None:
    shown = system("server info leaf-server", status=0).out
    assert "Server information for leaf-server (N" in shown
    assert "Domain: leaf" in shown
    document = system("server info --json", status=0).json
    assert document["server_name"] == "hub-server"
    assert system(f"server i {document['server_id']} --json", status=0).json["server_name"] == "hub-server"
    outcome = system("server info hub-serve", status=3)
    assert "there is no server 'hub-serve'; did you mean hub-server? jsctl server list shows" in outcome.err


def test_ping(system: Cli) -> None:
    rows = system("server ping --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(0 < row["rtt_ns"] < 10**10 for row in rows)
    shown = system("server ping 2 --id --graph", status=0).out
    assert "2 replies, max: " in shown
    assert rows[0]["id"] in shown
    assert "2 of 3 servers answered" in system("server ping 3", status=1).err


def test_an_account(system: Cli) -> None:
    shown = system("server account info ACC --host leaf-server", status=0).out
    assert "Account information for account ACC" in shown
    assert system("server account info ACC --json", status=0).json["jetstream_enabled"] is True
    assert len(system("server account info NONE", status=1).err.splitlines()) == 1


def test_a_reload(system: Cli) -> None:
    assert "give --force" in system("server config reload hub-server", status=64).err
    assert "Server information for hub-server" in system("server config reload hub-server -f", status=0).out


@pytest.mark.parametrize("line", ["server cluster step-down", "server cluster peer-remove hub-server"])
def test_a_single_server_has_no_meta_group(system: Cli, line: str) -> None:
    assert "are not clustered; there is no meta group" in system(line, status=1).err
