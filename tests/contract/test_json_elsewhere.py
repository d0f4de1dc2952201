"""The statuses and keys of verbs that need a cluster or a local network: see
`tests/support/verb_shapes.py`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import consumer_leaders, js, leaders, verb_shapes
from tests.support.run import Cli
from tests.support.server_run import Run
from tests.support.servers import Cluster
from tests.support.waiting import wait_for


@pytest.mark.cluster
def test_verbs_of_clusters(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "four", size=4)
    try:
        cluster.start()
        cli, system = Cli(tmp_path / "acc", cluster.url), Cli(tmp_path / "system", cluster.system_url)
        verbs = verb_shapes.Verbs()
        for name in ("R", "S", "T"):
            js.stream(cluster.url, name, name, num_replicas=3)
        js.stream(cluster.url, "ONE", "one")
        for name in ("C", "D"):
            cli(f"consumer add R {name} --pull --defaults --replicas 3", status=0)
        cli("consumer add R ONE --pull --defaults --replicas 1", status=0)
        verbs.check(cli, "stream cluster step-down", "stream cluster step-down R")
        verbs.check(cli, "stream cluster balance", "stream cluster balance")
        verbs.check(cli, "consumer cluster step-down", "consumer cluster step-down R C")
        verbs.check(cli, "consumer cluster balance", "consumer cluster balance R")
        wait_for(lambda: consumer_leaders.leader(cli, "ONE"), "the consumer has a leader")
        line = f"consumer cluster evacuate R ONE {consumer_leaders.leader(cli, 'ONE')} --force"
        verbs.check(cli, "consumer cluster evacuate", line)
        follower = leaders.current(cluster.url, "R")["cluster"]["replicas"][0]["name"]
        verbs.check(cli, "stream cluster peer-remove", f"stream cluster peer-remove R {follower} --force")
        line = f"stream cluster evacuate ONE {leaders.leader(cluster.url, 'ONE')} --force"
        verbs.check(cli, "stream cluster evacuate", line)
        verbs.check(system, "server cluster step-down", "server cluster step-down")
        verbs.check(system, "server cluster balance", "server cluster balance --account ACC --force")
        verbs.check(system, "server cluster evacuate", "server cluster evacuate n4 --force")
        cluster.servers["n4"].kill()
        verbs.check(
            system, "server cluster peer-remove", "server cluster peer-remove n4 --force --allow-data-loss"
        )
        for name in ("n2", "n3"):
            cluster.servers[name].kill()
        alone = Cli(tmp_path / "alone", cluster.servers["n1"].url_for("admin"))
        verbs.check(alone, "server cluster rescue", "server cluster rescue --force --timeout 2s")
        assert verbs.differences == []
    finally:
        cluster.stop()


@pytest.mark.cluster
def test_verbs_of_a_local_cluster(offline_cli: Cli, tmp_path: Path) -> None:
    verbs, store = verb_shapes.Verbs(), tmp_path / "store"
    offline_cli(f"server network up hub-leaf --store {store} --port 0", status=0)
    try:
        network = f"--network {store}"
        verbs.check(offline_cli, "server network isolate", f"server network isolate leaf {network}")
        offline_cli(f"server network down {store} --force", status=0)
        offline_cli(f"server network up cluster --store {store} --port 0", status=0)
        verbs.check(offline_cli, "server network add", f"server network add cluster {network}")
    finally:
        offline_cli(f"server network down {store} --force")
    assert verbs.differences == []


def test_verbs_that_need_something_of_their_own(cli: Cli, url: str) -> None:
    verbs = verb_shapes.Verbs()
    js.stream(url, "ORDERS", "ORDERS.>")
    js.publish(url, "ORDERS.a")
    cli("consumer add ORDERS C --pull --defaults", status=0)
    cli("consumer pause ORDERS C 1h --force", status=0)
    verbs.check(cli, "consumer resume", "consumer resume ORDERS C --force")
    cli("consumer add ORDERS PIN --pull --pinned-groups a --pinned-ttl 1m --defaults", status=0)
    cli("consumer next ORDERS PIN --group a", status=0)
    verbs.check(cli, "consumer unpin", "consumer unpin ORDERS PIN a --force")
    refused = cli("stream template add T")
    assert verb_shapes.find_difference("stream template", refused.status, "{}") == ""
    assert verbs.differences == []


def test_a_server_in_the_foreground(tmp_path: Path) -> None:
    run = Run(tmp_path, "--port", "0")
    document = json.dumps(run.ready())
    run.process.terminate()
    status, _ = run.end()
    assert verb_shapes.find_difference("server run", status, document, is_endless=True) == ""


def test_verbs_that_list_names(cli: Cli, url: str) -> None:
    """What else verbs write that list objects in `test_json.py`."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.new")
    for line in ("kv add CONFIG", "kv put CONFIG a 1", "object add FILES"):
        cli(line, status=0)
    verbs = verb_shapes.Verbs()
    for line in ("kv ls", "kv ls CONFIG", "object ls", "stream ls", "stream subjects ORDERS --names"):
        verbs.check(cli, " ".join(line.split()[:2]), line)
    assert verbs.differences == []


def test_verbs_that_list_their_steps(offline_cli: Cli) -> None:
    verbs = verb_shapes.Verbs()
    for path in ("demo guide", "demo hub-spokes"):
        verbs.check(offline_cli, path, f"{path} --list")
    assert verbs.differences == []


def test_a_client_is_closed(system_url: str, cli: Cli, tmp_path: Path) -> None:
    verbs, system = verb_shapes.Verbs(), Cli(tmp_path / "system", system_url)
    with cli.start(["sub", "kicked.>"]) as subscriber:
        found: list[Any] = []

        def is_there() -> bool:
            found[:] = [
                (client["cid"], client["server"]["id"])
                for client in system("server report connections --json", status=0).json
                if "kicked.>" in (client.get("subscriptions_list") or ())
            ]
            return bool(found)

        wait_for(is_there, "the subscriber")
        verbs.check(system, "server request kick", f"server request kick {found[0][0]} {found[0][1]}")
        subscriber.terminate()
    assert verbs.differences == []
