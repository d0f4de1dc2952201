"""`server request`: the verbs that differ in what they ask for."""

from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.server_requests import answers
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_until

VERBS = [
    "accounts",
    "gateways",
    "ipqueue",
    "jetstream",
    "jetstream-health",
    "leafnodes",
    "raft",
    "routes",
    "subscriptions",
]


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_flag_is_refused(system: Cli, verb: str) -> None:
    assert "No such option '--nope'" in system(f"server request {verb} --nope", status=64).err


def test_accounts(system: Cli) -> None:
    data = answers(system, "accounts")
    assert {"ACC", "SYS"} <= set(data["accounts"])


def test_what_a_server_refuses_is_shown_with_what_others_answer(system: Cli) -> None:
    refused = system("server request accounts --account NOPE", status=1)
    assert refused.out.count('"description": "Account NOPE does not exist"') == 2
    assert refused.err.endswith(": Account NOPE does not exist (500)\n") and refused.err.count("\n") == 1
    assert system("compat -- server request accounts --account NOPE", status=0).out.count("NOPE") == 2


def test_filtered_connections(system: Cli, hub_leaf: HubLeaf) -> None:
    replies = system("server request conn --filter-user nobody --filter-empty --json", status=0).json
    assert replies == []
    replies = system("server request conn --filter-user admin --subscriptions --json", status=0).json
    users = {one["authorized_user"] for reply in replies for one in reply["data"]["connections"]}
    assert users == {"admin"}


def test_connections(system: Cli) -> None:
    assert answers(system, "connections")["num_connections"] > 0


def test_gateways(system: Cli) -> None:
    data = answers(system, "gateways")
    assert data["outbound_gateways"] == data["inbound_gateways"] == {}


def test_ipqueue(system: Cli) -> None:
    data = answers(system, "ipqueue")
    assert data and all("pending" in queue for queue in data.values())
    busy = answers(system, "ipqueue --no-all")
    assert all(queue.get("pending") or queue.get("in_progress") for queue in busy.values())


def test_jetstream(system: Cli) -> None:
    data = answers(system, "jetstream")
    assert data["config"]["domain"] == "hub"


def test_jetstream_health(system: Cli) -> None:
    # A busy server may not be ready within the millisecond that monitor.go gives it.
    wait_until(lambda: answers(system, "jetstream-health"), lambda data: data["status"] == "ok")


def test_leafnodes(system: Cli) -> None:
    data = answers(system, "leafnodes")
    assert {leaf["account"] for leaf in data["leafs"]} == {"ACC", "SYS"}


def test_raft(system: Cli) -> None:
    data = answers(system, "raft")
    assert data == {}, "a single server has no groups"


def test_routes(system: Cli) -> None:
    data = answers(system, "routes")
    assert data["routes"] == []


def test_subscriptions(system: Cli) -> None:
    data = answers(system, "subscriptions")
    assert data["num_subscriptions"] > 0


def test_flags_before_the_verb(system: Cli) -> None:
    assert len(system("server request --name leaf-server varz --json", status=0).json) == 1
    assert len(system("server request varz 1 --json", status=0).json) == 1


def test_without_the_system_account(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    outcome = Cli(tmp_path / "user", hub_leaf.url)("server request varz", status=5)
    assert "this needs a login of the system account" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_variables(system: Cli) -> None:
    assert answers(system, "variables")["server_name"] == "hub-server"


def test_connections_of_an_account_without_the_system_account(cli: Cli) -> None:
    reply = cli("server request connections --json", status=0).json
    data = reply[0]["data"] if isinstance(reply, list) else reply["data"]
    assert [one["name"] for one in data["connections"]] == ["jsctl"]
    assert cli("server request variables", status=5).out == ""
