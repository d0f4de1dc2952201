"""`server request`: what servers say of themselves, as they say it."""

import json
from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf

KINDS = (
    "accounts",
    "connections",
    "gateways",
    "ipqueue",
    "jetstream",
    "jetstream-health",
    "leafnodes",
    "raft",
    "routes",
    "subscriptions",
    "variables",
)


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


@pytest.mark.parametrize("kind", KINDS)
def test_each_server_answers(system: Cli, kind: str) -> None:
    lines = system(f"server request {kind}", status=0).out.splitlines()
    assert {json.loads(line)["server"]["name"] for line in lines} == {"hub-server", "leaf-server"}
    documents = system(f"server req {kind} --name hub-server --json", status=0).json
    assert [document["server"]["name"] for document in documents] == ["hub-server"]


def test_flags_before_the_verb(system: Cli) -> None:
    assert len(system("server request --name leaf-server varz --json", status=0).json) == 1
    assert len(system("server request varz 1 --json", status=0).json) == 1


def test_filtered_connections(system: Cli, hub_leaf: HubLeaf) -> None:
    replies = system("server request conn --filter-user nobody --filter-empty --json", status=0).json
    assert replies == []
    replies = system("server request conn --filter-user admin --subscriptions --json", status=0).json
    users = {one["authorized_user"] for reply in replies for one in reply["data"]["connections"]}
    assert users == {"admin"}


def test_a_client_is_kicked(system: Cli, tmp_path: Path, hub_leaf: HubLeaf) -> None:
    reply = system("server request varz --name hub-server --json", status=0).json[0]
    outcome = system(f"server request kick 999999 {reply['server']['id']}")
    assert outcome.status == 1
    assert "hub-server: " in outcome.err
    assert "no server has the ID 'NONE'" in system("server request kick 1 NONE", status=3).err


def test_profiles_are_written(system: Cli, tmp_path: Path) -> None:
    rows = system(f"server request profile goroutine {tmp_path / 'p'} --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(Path(row["file"]).stat().st_size == row["size"] > 100 for row in rows)


def test_without_the_system_account(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    outcome = Cli(tmp_path / "user", hub_leaf.url)("server request varz", status=5)
    assert "this needs a login of the system account" in outcome.err
    assert len(outcome.err.splitlines()) == 1
