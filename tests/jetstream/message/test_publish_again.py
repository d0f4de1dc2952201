"""`pub -J` while leaders change and connections are lost: what is acknowledged is told exactly."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.hostile import middleman
from tests.support.relay import relay
from tests.support.run import Cli
from tests.support.servers import Account, Cluster, RealServer, many_accounts
from tests.support.waiting import wait_for


@contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[None]:
    """Do something else at the same time."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    yield
    thread.join(30)
    assert not failures and not thread.is_alive(), failures


def stored(url: str, stream: str) -> int:
    return int(js.ask_patiently(url, f"STREAM.INFO.{stream}")["state"]["messages"])


def has(url: str, stream: str, count: int) -> None:
    wait_for(lambda: stored(url, stream) >= count, f"{stream} does not get {count} messages")


@pytest.mark.cluster
@pytest.mark.parametrize("flag", ["", "-H 'Nats-Msg-Id: {{ID}}'"])
def test_the_leader_steps_down(cluster_cli: Cli, shared_cluster: Cluster, flag: str) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s.>", num_replicas=3)

    ended = threading.Event()

    def step_down_at(count: int) -> None:
        wait_for(lambda: ended.is_set() or stored(url, "S") >= count, f"S does not get {count} messages")
        if not ended.is_set():
            js.ask_patiently(url, "STREAM.LEADER.STEPDOWN.S", {})

    def step_down() -> None:
        for count in (2000, 6000):
            step_down_at(count)

    with meanwhile(step_down):
        outcome = cluster_cli(f"pub -J s.a x --count 9000 --timeout 3s --json {flag}")
        ended.set()
    if outcome.status:  # a message without an id went to the old leader
        assert not flag and "may be stored" in outcome.err, outcome
    else:
        sums = outcome.json
        assert sums["messages"] == 9000
        assert stored(url, "S") == 9000, sums


@pytest.mark.cluster
def test_the_leader_is_killed(cluster_cli: Cli, shared_cluster: Cluster, tmp_path: Path) -> None:
    """It is also the server that the connection is with."""
    url = shared_cluster.url
    js.stream(url, "S", "s.>", num_replicas=3)
    leader = shared_cluster.servers[js.info(url, "S")["cluster"]["leader"]]

    try:
        with relay(leader.port) as line:
            line.then.append((200_000, leader.kill))
            cli = Cli(tmp_path / "config", line.url_for("acc") + "," + url)
            outcome = cli("pub -J s.a x --count 8000 --timeout 20s --json -H 'Nats-Msg-Id: {{ID}}'", status=0)
    finally:
        leader.start()
        shared_cluster.wait()
    assert outcome.json["messages"] == 8000
    assert stored(url, "S") == 8000
    assert "connection lost" in outcome.err and "connected again" in outcome.err


@pytest.mark.cluster
def test_an_atomic_batch_while_the_leader_steps_down(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    url = shared_cluster.url
    js.stream(url, "S", "s.>", num_replicas=3, allow_atomic=True)
    with meanwhile(lambda: [js.ask_patiently(url, "STREAM.LEADER.STEPDOWN.S", {}) for _ in range(6)]):
        for number in range(1, 9):
            cluster_cli("pub s.a x --atomic --count 100 --timeout 10s", status=0)
            assert stored(url, "S") == number * 100


@pytest.mark.long
@pytest.mark.parametrize("silent", ["first", "commit"])
def test_an_atomic_batch_without_an_answer(own_account: Account, tmp_path: Path, silent: str) -> None:
    """A leader that steps down says nothing: a batch that is not begun is sent again, one that is stored is
    found by its id."""
    js.stream(own_account.url, "S", "s.>", allow_atomic=True)
    dropped: list[bytes] = []

    def change(subject: bytes, payload: bytes) -> bytes | None:
        is_wanted = b'"batch"' in payload if silent == "commit" else not payload
        if dropped or not is_wanted:
            return payload
        dropped.append(payload)
        return None

    with middleman(own_account.server.port) as man:
        cli = Cli(tmp_path, own_account.url.replace(str(own_account.server.port), str(man.port)))
        man.change = change
        ack = cli("pub s.a x --atomic --count 20 --timeout 8s --json", status=0).json
    assert dropped and (ack["stream"], ack["seq"], ack["count"]) == ("S", 20, 20), (dropped, ack)
    assert stored(own_account.url, "S") == 20


@pytest.mark.cluster
def test_a_subject_of_nobody(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    """It is told at once."""
    began = time.monotonic()
    failed = cluster_cli("pub -J nobody x --timeout 60s", status=4)
    assert "no stream stores nobody" in failed.err and failed.err.count("\n") == 1
    failed = cluster_cli("pub --atomic nobody x --timeout 60s", status=4)
    assert "no stream stores nobody" in failed.err and failed.err.count("\n") == 1
    assert time.monotonic() - began < 30


@pytest.mark.long
def test_a_connection_is_lost(own_account: Account, tmp_path: Path) -> None:
    js.stream(own_account.url, "S", "s.>")
    with relay(own_account.server.port) as line:
        cli = Cli(tmp_path, own_account.url.replace(str(own_account.server.port), str(line.port)))

        # The second time, it has connected again, and messages arrive.
        line.then += [(500_000, line.cut), (1_500_000, line.cut)]
        outcome = cli(
            "pub -J s.{{Count}} x --count 40000 -H 'Nats-Msg-Id: {{ID}}' --json --timeout 8s", status=0
        )
        assert outcome.json["messages"] == 40000
        assert stored(own_account.url, "S") == 40000
        assert outcome.err.count("connected again") == 2

        line.then.append((line.up + 1_000_000, line.cut))
        failed = cli("pub -J s.x y --count 100000 --timeout 8s", status=4)
    error = next(line for line in failed.err.splitlines() if "error:" in line)
    assert "lost the connection" in error and "Nats-Msg-Id" in error
    summary = next(line for line in failed.err.splitlines() if line.startswith("Stopped after the acks of"))
    numbers = [int(word.replace(",", "")) for word in summary.split() if word.replace(",", "").isdigit()]
    acknowledged, unsure = numbers
    assert acknowledged <= stored(own_account.url, "S") - 40000 <= acknowledged + unsure


@pytest.mark.slow
def test_a_server_restarts(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "server", many_accounts(1)).start()
    url = server.url_for("t0")
    try:
        js.stream(url, "S", "s.>")

        def restart() -> None:
            has(url, "S", 100)
            server.kill()
            time.sleep(0.3)  # an outage is time
            server.start()

        cli = Cli(tmp_path / "config", url)
        with meanwhile(restart):
            line = (
                "pub -J s.{{Count}} x --count 400 --sleep 2ms -H 'Nats-Msg-Id: {{ID}}' --json --timeout 15s"
            )
            outcome = cli(line, status=0)
        assert json.loads(outcome.out)["messages"] == 400
        assert stored(url, "S") == 400
    finally:
        server.stop()
