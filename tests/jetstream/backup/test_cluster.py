"""Backups, restores and copies in a cluster of three."""

import os
from pathlib import Path

import pytest

from jsctl.jetstream.backup.files import DATA, META
from jsctl.jetstream.state import MARK
from tests.support.js import ask, publish_all, stream
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.stored import stored

pytestmark = pytest.mark.cluster


@pytest.fixture
def orders(cluster_cli: Cli, shared_cluster: Cluster) -> str:
    url = shared_cluster.url
    stream(url, "ORDERS", "ORDERS.>", num_replicas=3, allow_direct=True)
    publish_all(url, ((f"ORDERS.{n % 5}", os.urandom(2000)) for n in range(3000)))
    config = {"durable_name": "NEW", "ack_policy": "explicit"}
    ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    return url


def test_round_trip(cluster_cli: Cli, orders: str, tmp_path: Path) -> None:
    had = stored(orders, "ORDERS")
    cluster_cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    cluster_cli("stream rm ORDERS --force", status=0)
    info = cluster_cli(f"backup restore stream {tmp_path}/b --json", status=0).json
    assert info["config"]["num_replicas"] == 3
    assert MARK not in (info["config"].get("metadata") or {})
    assert stored(orders, "ORDERS") == had
    assert ask(orders, "CONSUMER.INFO.ORDERS.NEW")["name"] == "NEW"
    cluster_cli(f"backup restore stream {tmp_path}/b --name ONE --subjects one --replicas 1", status=0)
    assert stored(orders, "ONE") == had


def test_copy(cluster_cli: Cli, orders: str) -> None:
    outcome = cluster_cli("stream copy ORDERS COPY --data --subjects copy --consumers", status=0)
    assert "Compared 3,000 messages: sequences" in outcome.out
    assert stored(orders, "COPY") == stored(orders, "ORDERS")


def test_a_broken_backup_leaves_no_stream(cluster_cli: Cli, orders: str, tmp_path: Path) -> None:
    cluster_cli(f"backup stream ORDERS {tmp_path}/b", status=0)
    (tmp_path / "b" / "jsctl.json").unlink()
    data = bytearray((tmp_path / "b" / DATA).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "b" / DATA).write_bytes(bytes(data))
    assert (tmp_path / "b" / META).exists()
    failed = cluster_cli(f"backup restore stream {tmp_path}/b --name B --subjects b")
    assert failed.status == 64 and "last good entry" in failed.err, failed
    assert cluster_cli("stream ls --names", status=0).out == "ORDERS\n"
