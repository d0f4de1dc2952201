"""`stream edit` and `stream cluster cancel-move` with patterns: many streams, as one plan."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for


def _replicas(url: str, name: str) -> int:
    info = js.ask(url, f"STREAM.INFO.{name}")
    assert all(peer["current"] for peer in info["cluster"].get("replicas") or ())
    return 1 + len(info["cluster"].get("replicas") or ())


@pytest.mark.slow
def test_one_plan_without_a_cluster(cli: Cli, url: str) -> None:
    for name in ("LOG_a", "LOG_b", "OTHER"):
        js.stream(url, name, f"{name}.>")
    js.publish(url, "LOG_a.x", count=3)
    shown = cli("stream edit LOG_* --max-msgs 5 --dry-run --json", status=2).json
    assert [change["stream"] for change in shown["changes"]] == ["LOG_a", "LOG_b"]
    assert (shown["moves"], shown["bytes"], shown["max_moves"]) == ([], 0, 2)
    asked = cli("stream edit LOG_* --max-msgs 5", answers=[False]).asked
    assert asked == ["Really edit 2 streams"]
    cli("stream edit LOG_* --max-msgs 5", status=64)
    done = cli("stream edit LOG_* --max-msgs 5 --force --json", status=0).json
    assert [row["status"] for row in done["applied"]] == ["changed", "changed"]
    configs = {name: js.ask(url, f"STREAM.INFO.{name}")["config"] for name in ("LOG_a", "LOG_b", "OTHER")}
    assert [config["max_msgs"] for config in configs.values()] == [5, 5, -1]
    assert "Nothing to change" in cli("stream edit LOG_* --max-msgs 5 --force", status=0).out
    assert "2 messages" in cli("stream edit LOG_* --max-msgs 1 --force", status=64).err
    cli("stream edit LOG_* --max-msgs 1 --force --allow-data-loss", status=0)


def test_what_cannot_be_done(cli: Cli, url: str) -> None:
    for name in ("LOG_a", "LOG_b"):
        js.stream(url, name, f"{name}.>")
    refused = cli("stream edit LOG_* --replicas 3 --force", status=1)
    assert "nothing was changed: 2 streams cannot be edited" in refused.err and "in no cluster" in refused.err
    assert "to copy" not in refused.out, "what is refused is not copied"
    assert "no stream matches NOPE*" in cli("stream edit NOPE* --max-msgs 1 --force", status=3).err
    assert "is a pattern" in cli("stream edit LOG_* --interactive", status=64).err
    assert "--max-moves" in cli("stream edit LOG_a --max-msgs 9 --max-moves 3 --force", status=64).err
    cli("stream edit LOG_* --subjects same.> --force", status=1)
    assert "no stream that matches" in cli("stream cluster cancel-move LOG_* --force", status=1).err


def test_what_servers_make_of_a_sealed_stream_is_tried(cli: Cli, url: str) -> None:
    for name in ("LOG_a", "LOG_b", "LOG_c"):
        js.stream(url, name, f"{name}.>")
    cli("stream seal LOG_a --force", status=0)
    shown = cli("stream edit LOG_* --max-age 1h --dry-run", status=2).out
    assert "= stream LOG_a\n    max_age: 0s, as the server keeps it, not 1h0m0s" in shown
    assert shown.count("[server ") == 1
    assert "2 to change, 0 to remove; 1 unchanged  [server " in shown
    same = cli("stream edit LOG_[bc] --description '' --dry-run", status=0).out
    assert "Nothing to change: 2 streams are unchanged\n" in same
    warned = cli("stream edit LOG_a --max-age 1h --dry-run", status=2).err
    assert "a sealed stream has no maximum age" in warned
    refused = cli("stream edit LOG_* --no-deny-purge --dry-run", status=1).out
    assert "can not cancel deny purge" in refused


def test_a_configuration_without_a_name(cli: Cli, url: str, tmp_path: Path) -> None:
    for name in ("LOG_a", "LOG_b"):
        js.stream(url, name, f"{name}.>")
    file = tmp_path / "logs.yaml"
    file.write_text("max_age: 1h\nmetadata: {team: x}\n")
    cli(["stream", "edit", "LOG_*", "--config", str(file), "--force"], status=0)
    config = js.ask(url, "STREAM.INFO.LOG_b")["config"]
    assert config["max_age"] == 3600 * 10**9
    assert config["metadata"]["team"] == "x"
    file.write_text("name: LOG_a\nmax_age: 1h\n")
    assert "remove its name" in cli(["stream", "edit", "LOG_*", "--config", str(file)], status=64).err


@pytest.mark.cluster
@pytest.mark.slow
def test_replicas_of_many_streams(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url, names = shared_cluster.url, [f"MANY_{number}" for number in range(5)]
    for name in names:
        js.stream(url, name, f"{name}.>")
        js.publish(url, f"{name}.x", b"x" * 1000, count=20)
    shown = cluster_cli("stream edit MANY_* --replicas 3 --dry-run --json", status=2).json
    assert [(move["stream"], move["copies"]) for move in shown["moves"]] == [(name, 2) for name in names]
    size = sum(js.ask(url, f"STREAM.INFO.{name}")["state"]["bytes"] for name in names)
    assert shown["bytes"] == 2 * size
    done = cluster_cli("stream edit MANY_* --replicas 3 --force --json", status=0).json
    assert [row["status"] for row in done["applied"]] == ["changed"] * 5
    assert [_replicas(url, name) for name in names] == [3] * 5
    assert "Nothing to change" in cluster_cli("stream edit MANY_* --replicas 3 --force", status=0).out
    both = cluster_cli("stream edit MANY_* --replicas 1 --cluster east --force", status=1).err
    assert "placement: a move, and a change of replicas or retention, are two edits" in both
    refused = cluster_cli("stream edit MANY_* --replicas 5 --force", status=1).err
    assert "5 replicas need as many servers, and 3 answer" in refused
    fewer = "stream edit MANY_* --replicas 1 --max-moves 5"
    assert "to copy" not in cluster_cli([*fewer.split(), "--dry-run"], status=2).out, "nothing is copied"
    cluster_cli([*fewer.split(), "--force"], status=0)
    assert [_replicas(url, name) for name in names] == [1] * 5


@pytest.mark.cluster
@pytest.mark.slow
def test_killed_and_run_again(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url, names = shared_cluster.url, [f"KILLED_{number}" for number in range(4)]
    for name in names:
        js.stream(url, name, f"{name}.>")
        js.publish(url, f"{name}.x", b"x" * 50_000, count=100)

    def count_edited() -> int:
        return sum(js.ask(url, f"STREAM.INFO.{name}")["config"]["num_replicas"] == 3 for name in names)

    process = cluster_cli.start("stream edit KILLED_* --replicas 3 --max-moves 1 --force")
    wait_for(lambda: count_edited() >= 1, "a stream was edited")
    process.kill()
    process.communicate()
    edited = count_edited()
    assert edited < 4
    left = cluster_cli("stream edit KILLED_* --replicas 3 --dry-run --json", status=2).json
    assert len([move for move in left["moves"] if not move["begun"]]) == 4 - edited
    cluster_cli("stream edit KILLED_* --replicas 3 --force", status=0)
    assert [_replicas(url, name) for name in names] == [3] * 4


@pytest.mark.cluster
@pytest.mark.slow
def test_what_is_in_the_way(tmp_path: Path) -> None:
    """The limit of the account: a server refuses what the plan refuses, and no sooner."""
    cluster = Cluster(tmp_path, 3)
    for server in cluster.servers.values():
        text = server.config.read_text().replace("jetstream: enabled", "jetstream: {max_file: 50MB}")
        server.config.write_text(text)
    cluster.start()
    try:
        cli = Cli(tmp_path / "home", cluster.url)
        for name in ("L_1", "L_2"):
            js.stream(cluster.url, name, name, max_bytes=10 * 1024**2)
        shown = cli("stream edit L_* --replicas 3 --dry-run --json", status=1)
        assert "L_2: max_bytes: the account has 50 MiB of storage" in shown.err
        assert [bool(change["refused"]) for change in shown.json["changes"]] == [False, True]
        cli("stream edit L_1 --replicas 3 --force", status=0)
        assert "10047" in cli("stream edit L_2 --replicas 3 --force", status=1).err
        refused = cli("stream edit L_* --replicas 3 --force", status=1).err
        assert "nothing was changed: 1 stream cannot be edited" in refused
        js.stream(cluster.url, "FREE", "free")
        js.publish(cluster.url, "free", b"x" * 900_000, count=20)
        # Servers tell each other what an account stores.
        wait_for(
            lambda: js.ask(cluster.url, "INFO")["storage"] >= 18_000_000,
            "the account's storage is not counted",
        )
        warned = cli("stream edit FR* --replicas 3 --dry-run", status=2).err
        assert "warning: copies bring the account to 52 MiB" in warned and "its limit is 50 MiB" in warned
    finally:
        cluster.stop()
