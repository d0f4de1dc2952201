"""Replicas beside each other, connections spread, and downgrades, on a real cluster."""

import contextlib
import socket
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


@pytest.fixture
def system(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> Cli:
    """The system account of the cluster; `cluster_cli` removes the streams."""
    return Cli(tmp_path / "system", shared_cluster.system_url)


def test_streams_and_consumers(system: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "R3", "r3.>", num_replicas=3)
    js.stream(url, "R1", "r1.>")
    js.ask(
        url,
        "CONSUMER.CREATE.R3.C3",
        {"stream_name": "R3", "config": {"name": "C3", "durable_name": "C3", "ack_policy": "explicit"}},
    )
    js.publish(url, "r3.a", count=10)

    def stored() -> bool:
        rows = system("server stream-check --stream R3 --json", status=0).json
        return [row["state"]["messages"] for row in rows] == [10] * 3 and all(row["in_sync"] for row in rows)

    wait_for(stored, "three replicas with ten messages")
    rows = system("server stream-check --json", status=0).json
    assert [(row["stream"], row["server"]) for row in rows if row["stream"] == "R3"] == [
        ("R3", "n1"),
        ("R3", "n2"),
        ("R3", "n3"),
    ]
    assert len({row["raft_group"] for row in rows}) == 2
    assert system("server stream-check --unsynced --json", status=0).json == []
    out = system("server stream-check --health --stream R3", tty=True, width=200, status=0).out
    assert "3 replicas, 0 not in sync" in out and "IN SYNC" in out and out.count("ok") == 3
    assert out.count("*") == 1, "one leads"
    assert system("server stream-check --csv --stream R1", status=0).out.startswith(
        "stream,raft_group,account"
    )

    line = "server consumer-check --stream R3 --consumer C3"
    wait_for(lambda: len(system(f"{line} --json", status=0).json) == 3, "three replicas of the consumer")
    rows = system(f"{line} --json --expected 3", status=0).json
    assert [(row["statuses"], row["num_waiting"]) for row in rows] == [(["EMPTY"], 0)] * 3

    sent = system("server request jetstream --all --config", status=0).out
    again = system("server stream-check --stdin --stream R3 --json", stdin=sent, status=0).json
    assert len(again) == 3
    assert "standard input" in system("server stream-check --stdin", stdin="[]", status=64).err
    assert "cannot be used together" in system("server stream-check --stdin --watch 1s", status=64).err


def test_downgrade(system: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "TTL", "ttl.>", allow_msg_ttl=True, num_replicas=3)
    js.ask(
        url,
        "CONSUMER.CREATE.TTL.C",
        {"stream_name": "TTL", "config": {"name": "C", "durable_name": "C", "ack_policy": "explicit"}},
    )
    needed = {"streams": [{"account": "ACC", "name": "TTL", "api_level": 1}], "consumers": []}
    line = "server report downgrade 0"
    wait_for(lambda: system(f"{line} --json", status=0).json == needed, "the stream's level")
    consumers = system(f"{line} --all --json", status=0).json["consumers"]
    assert consumers == [{"account": "ACC", "name": "C", "stream": "TTL", "api_level": 0}]
    assert "TTL*" in system(f"{line} --all", tty=True, status=0).out
    assert "work with API level 1" in system("server report downgrade 1", status=0).out


def test_balance(system: Cli, shared_cluster: Cluster) -> None:
    """Nine clients on one server: those above a third are closed."""
    line = "server cluster balance --account ACC --force --json"
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            client = stack.enter_context(
                socket.create_connection(("127.0.0.1", shared_cluster.servers["n1"].port), timeout=10)
            )
            client.sendall(b'CONNECT {"user":"acc","pass":"acc","verbose":true}\r\n')
            while not client.recv(4096).endswith(b"+OK\r\n"):
                pass
        connected = "server report connections --account ACC --json"
        wait_for(lambda: len(system(connected, status=0).json) == 9, "nine clients and no other")
        assert system(f"{line} --server-name n2", status=0).json["balanced"] == 0, "n2 has nothing too much"
        outcome = system("server cluster balance --account ACC", answers=[False], status=0)
        assert outcome.asked == ["Really close 6 connections"]
        done = system(f"{line} 100ms", status=0).json
    assert done["balanced"] == 6
    assert [row["closed"] for row in done["servers"]] == [6, 0, 0]


def test_balance_asks(system: Cli) -> None:
    assert "--account" in system("server cluster balance --subject x", status=64).err
    assert "no server" in system("server cluster balance --server-name none", status=64).err
    assert system("server cluster balance --account NOBODY", status=0).out.endswith("are balanced.\n")
