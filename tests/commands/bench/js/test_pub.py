"""`bench js pub`: one after the other, ahead, in batches, by fast ingest."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import js
from tests.support.benching import run, start, stop, workers
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

CONFIG = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'


def test_the_payload_is_a_file(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "m")
    (tmp_path / "payload").write_bytes(b"100% \x00 %d\r\n")
    run(cli, f"js pub async m --stream S --msgs 3 --payload {tmp_path}/payload --dedup -H 'A: %d'")
    message = js.ask(url, "STREAM.MSG.GET.S", {"seq": 3})["message"]
    assert message["data"] == "MTAwJSAAICVkDQo=" and "hdrs" in message
    assert "nope" in cli("bench pub m --payload nope", status=64).err


@pytest.mark.parametrize("verb", ["sync", "async --batch 40", "batch --batch 40", "fast --batch 40"])
def test_publishing_to_a_stream(verb: str, cli: Cli, url: str) -> None:
    line = f"js pub {verb} events --msgs 101 --clients 2 --processes 0 --warmup 3"
    assert "--create creates it" in cli(f"bench {line}", status=3).err
    document = run(cli, f"{line} --create --storage memory --maxbytes 10MiB")
    assert document["messages"] == 101 and document["latency"]["count"] > 0
    info = js.info(url, "benchstream")
    assert info["state"]["messages"] == 107 and info["config"]["storage"] == "memory"
    assert info["config"]["max_bytes"] == 10 << 20
    run(cli, f"{line} --purge")
    assert js.info(url, "benchstream")["state"]["messages"] == 107


@pytest.mark.parametrize(("flag", "limit"), [("", 1 << 30), ("--maxbytes ''", -1), ("--maxbytes 2KB", 2048)])
def test_the_limit_of_a_created_stream(flag: str, limit: int, cli: Cli, url: str) -> None:
    """As with the nats tool: 1 GiB, and none for an empty value, such as a script's `"$SIZE"`."""
    run(cli, f"js pub sync events --create --msgs 1 --processes 0 --size 1 {flag}")
    config = js.info(url, "benchstream")["config"]
    assert (config["max_bytes"], config["discard"]) == (limit, "new")
    assert "1 or more" in cli("bench js pub sync events --create --maxbytes 0", status=64).err


@pytest.mark.parametrize("acks", [1, 3])
def test_fast_ingest_with_outstanding_acks(acks: int, cli: Cli, url: str) -> None:
    js.stream(url, "S", "m", storage="memory", allow_batched=True)
    line = f"js pub fast m --stream S --msgs 1003 --batch 10 --max-outstanding-acks {acks} --processes 0"
    assert run(cli, line)["messages"] == 1003
    assert js.info(url, "S")["state"]["messages"] == 1003


def test_throughput(cli: Cli, url: str) -> None:
    """`--throughput` of the nats tool is `--rate`; with --sleep, the rate may be lower."""
    js.stream(url, "S", "m", storage="memory")
    document = run(cli, "js pub async m --stream S --msgs 50 --throughput 100 --processes 0")
    assert document["options"]["rate"] == 100 and document["duration_ns"] >= 4 * 10**8
    slow = run(cli, "js pub sync m --stream S --msgs 5 --throughput 1000 --sleep 50ms --processes 0")
    assert slow["duration_ns"] / 1e9 >= 0.2
    assert run(cli, "js pub sync m --stream S --msgs 5 --throughput 0 --processes 0")["messages"] == 5


@pytest.mark.slow
@pytest.mark.parametrize("clients", [1, 2])
def test_ctrl_c_shows_what_was_measured(clients: int, cli: Cli, url: str) -> None:
    js.stream(url, "S", "m", storage="memory", max_msgs=10)
    running = start(cli, f"js pub sync m --stream S --msgs 100000000 --clients {clients} --json")
    try:
        wait_for(lambda: js.info(url, "S")["state"]["last_seq"] > 20, "messages are published")
        out, err = stop(running)
    finally:
        running.kill()
    document = json.loads(out)
    assert running.returncode == 130 and document["messages"] > 0 and not document["complete"]
    assert "Traceback" not in err


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    """One that may be killed."""
    running = RealServer(tmp_path / "server", CONFIG).start()
    yield running
    running.stop()


@pytest.mark.slow
@pytest.mark.parametrize("clients", [1, 2])
def test_a_server_that_dies(clients: int, server: RealServer, tmp_path: Path) -> None:
    js.stream(server.url, "S", "m", storage="memory", max_msgs=10)
    cli = Cli(tmp_path, server.url)
    running = start(cli, f"js pub async m --stream S --msgs 100000000 --clients {clients}")
    try:
        wait_for(
            lambda: js.info(server.url, "S")["state"]["last_seq"] > 5_000,
            "messages are acknowledged, as more than a window of each client is stored",
        )
        server.kill()
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 4 and "stored" in out
    assert [line for line in err.splitlines() if "error" in line] == [
        f"jsctl: error: lost the connection to {server.url}"
    ]


@pytest.mark.slow
def test_a_process_that_hangs_does_not_hide_why_the_others_ended(server: RealServer, tmp_path: Path) -> None:
    js.stream(server.url, "S", "m", storage="memory", max_msgs=10)
    cli = Cli(tmp_path, server.url)
    running = start(cli, "js pub async m --stream S --msgs 100000000 --clients 2 --json")

    def wait_for_more(than: int) -> int:
        wait_for(lambda: js.info(server.url, "S")["state"]["last_seq"] > than, "messages are published")
        return int(js.info(server.url, "S")["state"]["last_seq"])

    try:
        wait_for_more(20)
        os.kill(int(workers(cli)[0]), signal.SIGSTOP)
        # More than two windows after that: the other one has acknowledged messages.
        wait_for_more(wait_for_more(0) + 5_000)
        server.kill()
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 4 and not json.loads(out)["complete"]
    assert f"lost the connection to {server.url}" in err and "killed" not in err


@pytest.mark.slow
def test_workers_end_with_us(cli: Cli, url: str) -> None:
    js.stream(url, "S", "m", storage="memory", max_msgs=10)
    running = start(cli, "js pub sync m --stream S --msgs 100000000 --clients 2")
    wait_for(lambda: js.info(url, "S")["state"]["last_seq"] > 20, "messages are published")
    running.kill()
    running.communicate(timeout=60)
    wait_for(lambda: not workers(cli), "the workers have ended")
