"""What a cluster means to other verbs of `consumer`: leaders, and servers that die."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.consumer_leaders import leader
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_until

pytestmark = pytest.mark.cluster


def test_report_shows_leaders(replicated: Cli) -> None:
    replicated("consumer add R C --pull", status=0)
    lead = leader(replicated, "C")
    shown = replicated("consumer report R --leaders", tty=True, status=0).out
    assert f"{lead}*" in shown
    assert "RAFT Leader Report" in shown
    assert replicated(f"consumer find R --leader {lead}", status=0).out == "C\n"
    assert replicated("consumer find R --replicas 2", status=0).out == ""


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that a test may break."""
    three = Cluster(tmp_path / "own")
    try:
        yield three.start()
    finally:
        three.stop()


def test_servers_that_die(own_cluster: Cluster, tmp_path: Path) -> None:
    """A consumer of one replica whose server is gone; then a stream of one replica."""
    cli = Cli(tmp_path / "cli", own_cluster.url)
    js.stream(own_cluster.url, "R", "r.>", num_replicas=3)
    js.publish(own_cluster.url, "r.a", count=3)
    cli("consumer add R ALL --pull", status=0)
    lost = "L"
    js.stream(own_cluster.url, lost, "l")
    victim = js.info(own_cluster.url, lost)["cluster"]["leader"]
    # One consumer of one replica has to be on the same server.
    places: dict[str, str] = {}
    while victim not in places.values():
        assert len(places) < 40
        name = f"ONE{len(places)}"
        cli(f"consumer add R {name} --pull --replicas 1", status=0)
        places[name] = leader(cli, name)
    deleted = name
    cli(f"consumer add {lost} C --pull", status=0)
    own_cluster.servers[victim].kill()
    cli.environ["NATS_URL"] = ",".join(
        server.url_for("acc") for name, server in own_cluster.servers.items() if name != victim
    )
    own_cluster.wait()

    def eventually(line: str, expected: Any) -> Any:
        return wait_until(lambda: cli(line), expected)

    done = eventually(
        f"consumer why R {deleted} --json --timeout 2s",
        lambda d: d.status == 0 and d.json["causes"][0]["kind"] == "consumer without leader",
    )
    assert done.json["verdict"] == "stopped"
    done = eventually(
        f"consumer why {lost} C --json --timeout 2s",
        lambda d: d.status == 0 and d.json["causes"][0]["kind"] == "stream without leader",
    )
    assert done.json["causes"][0]["help"] == "jsctl doctor"
    # The others go on, and those that are gone are named.
    eventually("consumer why R ALL", lambda d: d.status == 0 and "has no leader" not in d.out)
    shown = eventually("consumer report R --json", lambda d: d.status == 0 and d.json["missing"]).json
    assert shown["missing"]["R"] == [deleted]
    assert "ALL" in {row["consumer"] for row in shown["consumers"]}
    out = cli("consumer report R", status=0).out
    assert "Inaccessible Consumers" in out
    assert "Inaccessible Consumers" in cli("consumer ls R", status=0).out
    everything = cli("consumer report", status=0).out
    assert "Inaccessible Streams" in everything
    assert lost in everything
