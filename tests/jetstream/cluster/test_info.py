"""What a cluster adds to a stream's info page and report."""

import re

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until

pytestmark = pytest.mark.cluster


def test_the_sheet_in_a_cluster(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "ORDERS", "orders", num_replicas=3)
    js.stream(url, "M", num_replicas=1, mirror={"name": "ORDERS"})
    js.publish(url, "orders")
    alternates_shown = r"^ +Alternates: (.+\n.+)$"
    current = r"^ +Replica: (n\d), current, seen \S+ ago$"
    out = wait_until(
        lambda: cluster_cli("stream info ORDERS", status=0).out,
        lambda out: len(re.findall(current, out, re.M)) == 2 and re.search(alternates_shown, out, re.M),
    )
    replicas, alternates = re.findall(current, out, re.M), re.search(alternates_shown, out, re.M)
    assert alternates is not None
    leader = re.search(r"^ +Leader: (n\d) \([\d.]+m?s\)$", out, re.M)
    assert leader is not None, out
    assert {leader[1], *replicas} == set(shared_cluster.servers)
    lines = [line.strip() for line in alternates[1].splitlines()]
    assert sorted(lines) == ["M: Cluster: east", "ORDERS: Cluster: east"]
    columns = {line.index(": Cluster:") for line in out.splitlines() if ": Cluster:" in line}
    assert len(columns) == 1, out
    line = re.search(r"^ORDERS .*$", cluster_cli("stream report", status=0).out, re.M)
    assert line is not None and f"{leader[1]}*" in line[0]
