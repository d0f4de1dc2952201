"""`server list`."""

from pathlib import Path

import pytest

from jsctl.monitor.audit.archive import ArchiveWriter
from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf
from tests.support.tables import read_table


def test_hub_and_leaf(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    line = f"server list --server {hub_leaf.system_url}"
    shown = hub_cli(line, tty=True, status=0).out
    rows = {row["Name"]: row for row in read_table(shown, "Server Overview")}
    assert rows["hub-server"]["JS"] == "hub"
    assert rows["leaf-server"]["Cluster"] == "leaf-server"
    assert rows["leaf-server"]["Host"] == "127.0.0.1", "it is whole"
    result = hub_cli(f"{line} --json", status=0).json
    assert {reply["server"]["name"] for reply in result} == {"hub-server", "leaf-server"}
    assert all("statsz" in reply for reply in result)


def test_expected_servers(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    line = f"srv ls --server {hub_leaf.system_url}"
    assert hub_cli(f"{line} 2", status=0).err == ""
    outcome = hub_cli(f"{line} 3", status=1)
    assert outcome.err == "2 of 3 servers replied\n"
    assert "hub-server" in outcome.out


def test_without_the_system_account(cli: Cli) -> None:
    outcome = cli("server list --timeout 1s", status=5)
    assert "system account" in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.cluster
def test_routes_of_a_pool_count_once(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    out = cluster_cli(f"server list 3 --server {shared_cluster.system_url} --as csv", status=0).out
    head, *rows = [line.split(",") for line in out.splitlines()]
    assert [row[head.index("routes")] for row in rows] == ["2", "2", "2"]


@pytest.mark.cluster
def test_an_archive_has_what_servers_answer(
    cluster_cli: Cli, shared_cluster: Cluster, offline_cli: Cli, tmp_path: Path
) -> None:
    path, login = tmp_path / "audit.zip", f"--server {shared_cluster.system_url}"
    cluster_cli(f"audit gather -o {path} --no-server-profiles --no-progress {login}", status=0)
    live, archived = (
        {row["server"]["name"]: row["statsz"] for row in cluster_cli(line, status=0).json}
        for line in (f"server list 3 --json {login}", f"server list --json --archive {path}")
    )
    for name, expected in live.items():
        found = archived[name]
        assert set(expected) <= {*found, "active_servers"}, name
        assert [key for key in found if type(found[key]) is not type(expected.get(key, found[key]))] == []
        assert {route["rid"] for route in found["routes"]} == {route["rid"] for route in expected["routes"]}
        assert set(found["routes"][0]) == set(expected["routes"][0])
        assert 0 < found["sent"]["msgs"] <= expected["sent"]["msgs"]
        assert 0 < found["sent_to_clients"]["bytes"] <= expected["sent_to_clients"]["bytes"]
    assert sum(statistics["active_accounts"] for statistics in archived.values()) >= 1


def test_gateways_of_an_archive(system: Cli, offline_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "audit.zip"
    variables = system("server request variables --name hub-server", status=0).json
    outbound = {"west": {"connection": {"cid": 7, "out_msgs": 3, "out_bytes": 30, "in_msgs": 9}}}
    inbound = {
        "west": [
            {"connection": {"cid": 8, "in_msgs": 2, "in_bytes": 20}},
            {"connection": {"cid": 9, "in_msgs": 1}},
        ],
        "far": [],
    }
    data = {"now": variables["data"]["now"], "outbound_gateways": outbound, "inbound_gateways": inbound}
    with path.open("wb") as file, ArchiveWriter(file, 2e9) as writer:
        for kind, reply in (("variables", variables), ("gateways", {**variables, "data": data})):
            writer.add_json(reply, server="hub-server", cluster="unclustered", artifact_type=kind)
    [row] = offline_cli(f"server list --json --archive {path}", status=0).json
    nothing = {"msgs": 0, "bytes": 0}
    assert row["statsz"]["gateways"] == [
        {"gwid": 0, "name": "far", "sent": nothing, "received": nothing, "inbound_connections": 0},
        {
            "gwid": 7,
            "name": "west",
            "sent": {"msgs": 3, "bytes": 30},
            "received": {"msgs": 3, "bytes": 20},
            "inbound_connections": 2,
        },
    ]


def test_a_damaged_answer_of_an_archive_is_not_an_absent_one(offline_cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    server = {"name": "a", "id": "A", "cluster": "c"}
    tags = {"cluster": "c", "server": "a", "artifact_type": "variables"}
    for damaged in ({"server": server, "data": {"routes": "none"}}, ["nothing"]):
        with path.open("wb") as file, ArchiveWriter(file, 2e9) as writer:
            writer.add_json({"server": server, "data": {"server_name": "a"}}, **tags)
            writer.add_json(damaged, **{**tags, "artifact_type": "routes"})
        refused = offline_cli(f"server list --archive {path}", status=64).err
        assert "damaged" in refused and "rout" in refused.lower().replace(str(path), ""), refused
