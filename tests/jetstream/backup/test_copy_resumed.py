"""stream copy --data, interrupted: the same command continues, and sends nothing twice."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.backup import copy_transfer
from jsctl.jetstream.backup.copy_transfer import ORIGIN, name_rest_stream
from jsctl.jetstream.state import MARK
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from tests.support.js import ask, info, publish, stream
from tests.support.relay import Relay, relay
from tests.support.run import Cli
from tests.support.servers import Cluster, HubLeaf, RealServer
from tests.support.stored import stored
from tests.support.waiting import wait_for

pytestmark = pytest.mark.long

SERVER = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""
COUNT, SIZE = 1500, 10_000
Headers = Sequence[tuple[str, str]]
RATE = 7_500_000
"""Bytes a second: two seconds for all."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "server", SERVER).start()
    yield server
    server.stop()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[RealServer]:
    """A server that knows nothing of the first."""
    other = RealServer(tmp_path / "other", SERVER, name="other").start()
    yield other
    other.stop()


def fill(url: str, *, domain: str = "", headers: Headers = (), **config: object) -> None:
    """Stream BIG: headers on every other message, and gaps at its head, middle and end."""
    stream(url, "BIG", "big.>", domain=domain, allow_direct=True, **config)

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            for n in range(COUNT):
                own = [("Nats-Msg-Id", str(n)), ("k", "1"), ("K", "2"), ("k", "3"), *headers] if n % 2 else []
                await connection.send(
                    encode_publish(f"big.{n % 7}", os.urandom(SIZE), "", encode_headers(own))
                )
            await connection.flush()
        finally:
            await connection.close()

    asyncio.run(work())
    wait_for(
        lambda: ask(url, "STREAM.INFO.BIG", domain=domain)["state"]["last_seq"] == COUNT, "not all is stored"
    )
    for sequence in (1, 2, 77, 1250, 1251, COUNT - 1, COUNT):
        ask(url, "STREAM.MSG.DELETE.BIG", {"seq": sequence}, domain=domain)


@contextmanager
def copying(cli: Cli, line: str) -> Iterator[subprocess.Popen[str]]:
    """The line in a process of its own."""
    process = cli.start(line)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def reached(url: str, share: float, name: str = "OLD", domain: str = "") -> None:
    """Wait until a stream has this share of all messages."""

    def there() -> bool:
        listed = ask(url, "STREAM.LIST", {}, domain=domain)["streams"]
        return any(
            one["config"]["name"] == name and one["state"]["last_seq"] >= COUNT * share for one in listed
        )

    wait_for(there, "nothing was copied")


def went_on(words: str) -> int:
    """The sequence at which a copy went on."""
    assert "was interrupted; continuing at message " in words, words
    return int(words.partition("continuing at message ")[2].split()[0].replace(",", ""))


def sent_the_rest(line: Relay, first: int) -> bool:
    """Whether a relay carried upwards what follows a message, and little more."""
    missing = (COUNT - first) * SIZE
    return missing * 0.9 < line.up < missing * 1.1 + 100_000


@pytest.mark.slow
def test_one_server(server: RealServer, tmp_path: Path) -> None:
    fill(server.url)
    durable = {"durable_name": "C", "ack_policy": "explicit"}
    ask(server.url, "CONSUMER.DURABLE.CREATE.BIG.C", {"stream_name": "BIG", "config": durable})
    had = stored(server.url, "BIG")
    line = "stream copy BIG OLD --data --subjects old --consumers"
    with relay(server.port, RATE) as slow:
        cli = Cli(tmp_path / "config", slow.url)
        with copying(cli, line) as process:
            reached(server.url, 0.6)
            process.kill()
    assert info(server.url, "OLD")["config"]["metadata"][MARK].startswith("restore")
    with relay(server.port) as fast:
        cli = Cli(tmp_path / "config", fast.url)
        outcome = cli(f"{line} --no-compare", terminal_error=True, status=0)
        first = went_on(outcome.err)
        assert first > COUNT * 0.6
        assert sent_the_rest(fast, first), fast.up
        assert fast.down < (COUNT - first) * SIZE * 1.2 + 200_000
    assert stored(server.url, "OLD") == had
    result = info(server.url, "OLD")
    assert result["state"]["last_seq"] == COUNT
    assert result["config"]["subjects"] == ["old"]
    assert "mirror" not in result["config"]
    assert not {MARK, ORIGIN} & set(result["config"]["metadata"])
    assert ask(server.url, "CONSUMER.INFO.OLD.C")["num_pending"] == len(had)
    assert sorted(ask(server.url, "STREAM.NAMES")["streams"]) == ["BIG", "OLD"]
    publish(server.url, "old")
    assert info(server.url, "OLD")["state"]["last_seq"] == COUNT + 1


@pytest.mark.slow
def test_two_servers_and_a_line_that_breaks_twice(
    server: RealServer, other: RealServer, tmp_path: Path
) -> None:
    fill(server.url)
    cli = Cli(tmp_path / "config")
    cli(f"context add east --server {server.url}", status=0)
    line = "stream copy BIG BIG --data --from-context east --to-context west"
    with relay(other.port, RATE) as slow:
        cli(f"context add west --server {slow.url}", status=0)
        with copying(cli, line) as process:
            reached(other.url, 0.3, "BIG")
            slow.cut()
            _, err = process.communicate(timeout=60)
        assert process.returncode == 4
        assert "lost the connection" in err and "the same command continues with it" in err
        slow.up = 0
        with copying(cli, line) as process:
            reached(other.url, 0.6, name_rest_stream("BIG"))
            process.kill()
        slow.rate = 0
        outcome = cli(line, terminal_error=True, status=0)
        first = went_on(outcome.err)
        assert f"Compared {COUNT - 7:,} messages: sequences, subjects" in outcome.out
        # Both runs together sent what the first had not.
        assert slow.up < COUNT * SIZE * 0.8
    assert first > COUNT * 0.25
    assert stored(other.url, "BIG") == stored(server.url, "BIG")
    assert ask(other.url, "STREAM.NAMES")["streams"] == ["BIG"]


@pytest.mark.slow
def test_a_server_that_is_lost(server: RealServer, other: RealServer, tmp_path: Path) -> None:
    fill(server.url)
    cli = Cli(tmp_path / "config")
    cli(f"context add east --server {server.url}", status=0)
    line = "stream copy BIG OLD --data --from-context east --to-context west"
    with relay(other.port, RATE) as slow:
        cli(f"context add west --server {slow.url}", status=0)
        with copying(cli, line) as process:
            reached(other.url, 0.6)
            slow.stop()
            other.kill()
            _, err = process.communicate(timeout=60)
        assert process.returncode == 4, err
    other.start()
    # Messages are published to the source meanwhile: they come along.
    publish(server.url, "big.new", count=10)
    with relay(other.port, port=slow.port) as fast:
        outcome = cli(line, terminal_error=True, status=0)
        assert sent_the_rest(fast, went_on(outcome.err)), fast.up
    assert stored(other.url, "OLD") == stored(server.url, "BIG")


@pytest.mark.slow
def test_domains(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    fill(hub_leaf.leaf.url_for("acc"), domain="leaf")
    line = "stream copy BIG BIG --data --from-domain leaf --to-domain hub"
    with relay(hub_leaf.hub.port, RATE) as slow:
        slow_cli = Cli(hub_cli.home, slow.url_for("acc"))
        with copying(slow_cli, line) as process:
            reached(hub_leaf.url, 0.6, "BIG", "hub")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "is not complete; the same command continues with it" in err
        slow.cut()  # or what it still holds is counted below
        slow.rate = slow.up = 0
        outcome = slow_cli(line, terminal_error=True, status=0)
        assert sent_the_rest(slow, went_on(outcome.err)), slow.up
    assert stored(hub_leaf.url, "BIG", domain="hub") == stored(hub_leaf.url, "BIG", domain="leaf")


@pytest.mark.slow
def test_cluster(cluster_cli: Cli, shared_cluster: Cluster) -> None:
    """A cluster keeps nothing of a restore that broke off. What follows goes in pieces, and these stay."""
    url = shared_cluster.url
    fill(url, num_replicas=3)
    line = "stream copy BIG OLD --data --subjects old"
    with relay(next(iter(shared_cluster.servers.values())).port, RATE) as slow:
        slow_cli = Cli(cluster_cli.home, slow.url_for("acc"))
        with copying(slow_cli, line) as process:
            wait_for(lambda: slow.up > COUNT * SIZE * 0.6, "nothing was copied", 60)
            process.kill()
    outcome = cluster_cli(line, terminal_error=True, status=0)
    assert "was interrupted, and the server kept nothing; starting again" in outcome.err
    assert f"Compared {COUNT - 7:,} messages: sequences, subjects" in outcome.out
    assert stored(url, "OLD") == stored(url, "BIG")
    config = info(url, "OLD")["config"]
    assert config["num_replicas"] == 3 and "mirror" not in config


@pytest.mark.cluster
def test_pieces(cluster_cli: Cli, shared_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams of more than a GiB go to a cluster in pieces from the start."""
    url = shared_cluster.url
    fill(url)
    monkeypatch.setattr(copy_transfer, "LARGE", 1000)
    line = "stream copy BIG OLD --data --subjects old"
    outcome = cluster_cli(line, terminal_error=True, status=0)
    assert f"Compared {COUNT - 7:,} messages: sequences, subjects" in outcome.out
    assert stored(url, "OLD") == stored(url, "BIG")


@pytest.mark.slow
def test_headers_that_a_mirror_loses(server: RealServer, tmp_path: Path) -> None:
    """What a server takes off on the way into a mirror is never lost: the copy begins again."""
    fill(server.url, headers=[("Nats-Expected-Stream", "BIG")])
    with relay(server.port, RATE) as slow:
        cli = Cli(tmp_path / "config", slow.url)
        line = "stream copy BIG OLD --data --subjects old"
        with copying(cli, line) as process:
            reached(server.url, 0.3)
            process.kill()
        slow.rate = 0
        outcome = cli(line, terminal_error=True, status=0)
    assert "has a header that only a restore keeps; the copy begins again" in outcome.err
    assert stored(server.url, "OLD") == stored(server.url, "BIG")
    assert sorted(ask(server.url, "STREAM.NAMES")["streams"]) == ["BIG", "OLD"]


def test_what_is_not_of_this_copy(server: RealServer, tmp_path: Path) -> None:
    fill(server.url)
    cli = Cli(tmp_path / "config", server.url)
    line = "stream copy BIG OLD --data --subjects old"
    landing: dict[str, Any] = {
        "mirror": {"name": name_rest_stream("OLD")},
        "metadata": {MARK: "restore x", ORIGIN: "BIG before"},
    }
    stream(server.url, "OLD", **landing)
    assert "--force" in cli(line, status=64).err
    assert info(server.url, "OLD")["config"]["metadata"][ORIGIN] == "BIG before"
    cli(f"{line} --force", status=0)
    # The name that a copy needs for itself.
    stream(server.url, name_rest_stream("NEW"), "rest")
    assert "which another stream has" in cli("stream copy BIG NEW --data --subjects new", status=1).err
    assert cli("stream ls --names", status=0).out.split() == ["BIG", name_rest_stream("NEW"), "OLD"]


def test_a_configuration_is_validated_first(server: RealServer, tmp_path: Path) -> None:
    fill(server.url)
    cli = Cli(tmp_path / "config", server.url)
    for flags, number in (("--subjects big.1", 10065), ("--subjects old --replicas 3", 10074)):
        assert str(number) in cli(f"stream copy BIG OLD --data {flags}", status=1).err
        assert cli("stream ls --names", status=0).out.split() == ["BIG"]
