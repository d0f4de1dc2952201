"""`server roll`: a rolling restart of real servers."""

from pathlib import Path

import pytest

from jsctl.monitor.server.roll import list_servers
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.tables import read_table
from tests.support.waiting import wait_until


def test_it_needs_the_system_account(cli: Cli) -> None:
    assert "system account" in cli("server roll", status=5).err


def test_the_health_of_others_counts() -> None:
    servers = [{"server": {"id": name.upper(), "name": name}} for name in ("n1", "n2")]
    healths = [
        {"server": servers[0]["server"], "data": {"status": "error", "error": "stream behind"}},
        {"server": servers[1]["server"], "data": {"status": "ok"}},
    ]
    waits = {row.server: row.waits for row in list_servers(servers, healths, ())}
    assert waits == {"n1": [], "n2": ["server n1 is not healthy: stream behind"]}


def test_a_server_that_is_away_comes_first() -> None:
    """It is why others are not healthy."""
    meta = {"leader": "n1", "replicas": [{"name": "n2", "current": True}, {"name": "n3", "offline": True}]}
    servers = [
        {"server": {"id": name, "name": name}, "data": {"meta_cluster": meta}} for name in ("n1", "n2")
    ]
    healths = [{"server": one["server"], "data": {"status": "error", "error": "behind"}} for one in servers]
    waits = {row.server: row.waits for row in list_servers(servers, healths, ())}
    assert waits["n2"] == ["server n3 is away", "server n1 is not healthy: behind"]


@pytest.mark.cluster
@pytest.mark.slow
def test_a_rolling_restart(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "servers", 3).start()
    try:
        system = Cli(tmp_path / "system", cluster.system_url)
        js.stream(cluster.url, "ORDERS", "orders", num_replicas=3)
        js.stream(cluster.url, "ONE", "one")
        js.publish(cluster.url, "orders", b"x" * 1000, count=100)
        rows = wait_until(
            lambda: system("server roll --wait --timeout 30s --json", status=0).json,
            lambda rows: all(row["may_go"] for row in rows),
        )
        assert [row["meta_leader"] for row in rows] == [False, False, True]
        assert sum(row["only_copies"] for row in rows) == 1 and sum(row["leads"] for row in rows) == 1
        first, second, _ = (row["server"] for row in rows)
        [row] = read_table(system(f"server roll {first}", status=0).out, "Rolling Restart")
        assert (row["Server"], row["May Go"]) == (first, "yes")

        cluster.servers[first].stop()
        refused = system(f"server roll {second}", status=1).out
        assert (
            f"Server {second} must not be restarted now" in refused and f"server {first} is away" in refused
        )
        [row] = system(f"server roll {second} --json", status=1).json
        assert f"server {first} is away" in row["waits"]
        assert f"server {first} is away" in system(f"server roll {second} --as csv", status=1).out
        assert "no server" in system(f"server roll {first}", status=3).err
        late = system(f"server roll {second} --wait --timeout 1s", status=4).err
        assert f"server {first} is away" in late
        js.publish(cluster.url, "orders", b"x" * 1000, count=1000)
        cluster.servers[first].start()
        system(f"server roll {second} --wait --timeout 60s", status=0)
        info = js.ask(cluster.url, "STREAM.INFO.ORDERS")
        assert all(peer["current"] for peer in info["cluster"]["replicas"])
    finally:
        cluster.stop()
