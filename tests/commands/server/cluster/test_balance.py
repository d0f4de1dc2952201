"""`server cluster balance`."""

import contextlib
import socket

import pytest

from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster


def test_balance(cluster_system: Cli, shared_cluster: Cluster) -> None:
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
        wait_for(lambda: len(cluster_system(connected, status=0).json) == 9, "nine clients and no other")
        assert cluster_system(f"{line} --server-name n2", status=0).json["balanced"] == 0, (
            "n2 has nothing too much"
        )
        outcome = cluster_system("server cluster balance --account ACC", answers=[False], status=0)
        assert outcome.asked == ["Really close 6 connections"]
        done = cluster_system(f"{line} 100ms", status=0).json
    assert done["balanced"] == 6
    assert [row["closed"] for row in done["servers"]] == [6, 0, 0]


def test_balance_asks(cluster_system: Cli) -> None:
    assert "--account" in cluster_system("server cluster balance --subject x", status=64).err
    assert (
        "no cluster has a server"
        in cluster_system("server cluster balance --server-name none", status=64).err
    )
    assert cluster_system("server cluster balance --account NOBODY", status=0).out.endswith("are balanced.\n")
