"""`jsctl bench` on a real server, with few messages: what is done is looked at, not how fast."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jsctl.schema.catalog import schema
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

CONFIG = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """With 200 messages in the stream of benchmarks."""
    cli(
        "bench js pub async events --create --storage memory --msgs 200 --multisubject --multisubjectmax 10",
        status=0,
    )
    return cli


def start(cli: Cli, line: str) -> subprocess.Popen[str]:
    """A benchmark in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "bench", *line.split()],
        env={**os.environ, **cli.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[str, str]:
    process.send_signal(number)
    return process.communicate(timeout=20)


def run(cli: Cli, line: str) -> dict[str, Any]:
    """The document of a benchmark."""
    document: dict[str, Any] = cli(f"bench {line} --json", status=0).json
    assert not validate(document, schema("io.jsctl.v1.bench"))
    return document


def test_publishing_without_acks(cli: Cli) -> None:
    document = run(cli, "pub events --msgs 1000 --size 100 -H A:b")
    assert (document["bench"], document["messages"], document["complete"]) == ("pub", 1000, True)
    header = len(b"NATS/1.0\r\nA: b\r\n\r\n")
    assert document["bytes"] == 1000 * (100 + header) and document["message_bytes"] == 100 + header
    assert document["messages_per_second"] > 0 and document["clients"][0]["messages"] == 1000
    shown = cli("bench pub events --msgs 1000 --plot")
    assert "1,000 published" in shown.out and "99.99%" in shown.out and "P99.9:" in shown.out
    assert "1,000 messages of 128 B, 1 client" in shown.err


def test_a_rate_is_held(cli: Cli) -> None:
    document = run(cli, "pub events --rate 500 --msgs 100 --clients 2 --processes 0")
    assert document["messages"] == 100
    assert 100 < document["messages_per_second"] < 520
    assert document["latency"]["count"] == 100


def test_the_subjects(cli: Cli, url: str) -> None:
    js.stream(url, "S", "m.>")
    run(cli, "pub m --msgs 20 --multisubject --multisubjectmax 7")
    run(cli, "pub m --msgs 5 --multisubject --multisubjectmax 0")
    wait_for(lambda: js.info(url, "S")["state"]["messages"] == 25, "all messages are stored")
    subjects = set(js.ask(url, "STREAM.INFO.S", {"subjects_filter": ">"})["state"]["subjects"])
    assert subjects == {f"m.{number}" for number in range(7)}


def test_the_payload_is_a_file(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "S", "m")
    (tmp_path / "payload").write_bytes(b"100% \x00 %d\r\n")
    run(cli, f"js pub async m --stream S --msgs 3 --payload {tmp_path}/payload --dedup -H 'A: %d'")
    message = js.ask(url, "STREAM.MSG.GET.S", {"seq": 3})["message"]
    assert message["data"] == "MTAwJSAAICVkDQo=" and "hdrs" in message
    assert "nope" in cli("bench pub m --payload nope", status=64).err


def test_a_subscription_measures_what_arrives(cli: Cli) -> None:
    subscribing = start(cli, "sub events --msgs 300 --json --size 1 --multisubject --clients 2")
    try:
        for _ in range(100):
            run(cli, "pub events --msgs 300 --size 77 --multisubject")
            if subscribing.poll() is not None:
                break
        out, _ = subscribing.communicate(timeout=20)
    finally:
        subscribing.kill()
    document = json.loads(out)
    assert document["messages"] == 600 and document["message_bytes"] == 77
    assert [one["messages"] for one in document["clients"]] == [300, 300]


def test_requests_and_their_service(cli: Cli) -> None:
    serving = start(cli, "service serve bench.svc --json --clients 2")
    try:
        wait_for(lambda: len(cli("service list --json").json) == 2, "two clients serve")
        document = run(cli, "service request bench.svc --msgs 50 --warmup 5")
        assert document["messages"] == 50 and document["latency"]["count"] == 50
        out, _ = stop(serving)
    finally:
        serving.kill()
    assert serving.returncode == 0
    assert json.loads(out)["messages"] == 55
    assert "nobody answers on bench.svc" in cli("bench service request bench.svc", status=4).err


@pytest.mark.parametrize("verb", ["sync", "async --batch 40", "batch --batch 40", "fast --batch 40"])
def test_publishing_to_a_stream(verb: str, cli: Cli, url: str) -> None:
    line = f"js pub {verb} events --msgs 101 --clients 2 --processes 0 --warmup 3"
    assert "--create makes it" in cli(f"bench {line}", status=3).err
    document = run(cli, f"{line} --create --storage memory --maxbytes 10MiB")
    assert document["messages"] == 101 and document["latency"]["count"] > 0
    info = js.info(url, "benchstream")
    assert info["state"]["messages"] == 107 and info["config"]["storage"] == "memory"
    assert info["config"]["max_bytes"] == 10 << 20
    run(cli, f"{line} --purge")
    assert js.info(url, "benchstream")["state"]["messages"] == 107


def test_workers_are_processes_of_their_own(filled: Cli, url: str) -> None:
    document = run(
        filled, "js pub async events.1 --clients 3 --processes 2 --msgs 90 --create --force --storage memory"
    )
    assert [one["messages"] for one in document["clients"]] == [30, 30, 30]
    assert document["options"]["processes"] == 2
    assert not _workers(filled)
    shown = filled("bench js ordered --msgs 90 --clients 2", status=0)
    assert "2 clients in 2 processes" in shown.err and "Clients" in shown.out


@pytest.mark.parametrize(
    "verb",
    [
        "ordered",
        "consume",
        "fetch --batch 30",
        "consume --acks all",
        "fetch --acks none",
        "consume --doubleack",
    ],
)
def test_consuming(verb: str, filled: Cli) -> None:
    document = run(filled, f"js {verb} --msgs 200")
    assert (document["messages"], document["message_bytes"]) == (200, 128)
    again = run(filled, f"js {verb} --filter events.01 --filter events.02 --timeout 300ms --msgs 40")
    assert again["messages"] == 40


def test_a_stream_that_has_less(filled: Cli) -> None:
    outcome = filled("bench js consume --msgs 500 --timeout 300ms", status=1)
    assert "200 of 500" in outcome.out
    assert outcome.err.splitlines()[-1].startswith("jsctl: error: 200 of 500 messages arrived, then nothing")
    assert filled("bench js fetch --msgs 500 --timeout 300ms --json", status=1).json["complete"] is False


def test_a_consumer_of_others(filled: Cli, url: str) -> None:
    config = {"durable_name": "C", "ack_policy": "none"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.benchstream.C", {"stream_name": "benchstream", "config": config})
    assert run(filled, "js consume --consumer C --msgs 150")["messages"] == 150
    assert run(filled, "js consume --consumer C --msgs 50")["messages"] == 50
    assert "not found" in filled("bench js consume --consumer D", status=3).err


def test_getting(filled: Cli) -> None:
    document = run(filled, "js get sync --msgs 250")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    document = run(filled, "js get batch --msgs 250 --batch 60")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    assert run(filled, "js get batch --msgs 30 --filter events.03")["messages"] == 30
    err = filled("bench js get batch --filter nope --msgs 5", status=3).err
    assert "no message on nope" in err


def test_buckets(cli: Cli, url: str) -> None:
    assert "not found" in cli("bench kv get --msgs 5", status=3).err
    document = run(cli, "kv put --msgs 50 --size 20 --history 3 --storage memory --clients 2 --processes 0")
    assert document["bytes"] == 1000
    config = js.info(url, "KV_benchbucket")["config"]
    assert (config["storage"], config["max_msgs_per_subject"]) == ("memory", 3)
    assert run(cli, "kv get --msgs 50")["bytes"] == 1000
    run(cli, "kv put --msgs 20 --purge --randomize 4")
    assert len(cli("kv ls benchbucket --json").json) <= 4
    assert "has no key" in cli("bench kv get --msgs 60", status=3).err
    assert "not found" in cli("bench kv put --bucket other", status=3).err


def test_objects(cli: Cli) -> None:
    document = run(cli, "object put --msgs 3 --size 200KB --storage memory")
    assert document["bytes"] == 600 * 1024
    assert run(cli, "object get --msgs 5 --clients 2 --processes 0")["bytes"] == 10 * 200 * 1024
    run(cli, "object put --msgs 1 --purge --size 10")
    assert len(cli("object ls benchobjects --json").json) == 1


def test_data_of_others_is_asked_for(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.1", count=3)
    wait_for(lambda: js.info(url, "ORDERS")["state"]["messages"] == 3, "all messages are stored")
    line = "bench js pub sync orders.2 --stream ORDERS --msgs 2"
    assert "--force" in cli(f"{line} --purge", status=64).err
    declined = cli(f"{line} --purge", answers=[False], status=0)
    assert "all 3 messages of stream ORDERS" in declined.asked[0]
    for verb in ("js consume", "js ordered"):
        assert "--force" in cli(f"bench {verb} --stream ORDERS --purge", status=64).err
    create = cli(f"{line} --create", answers=[False], status=0)
    assert "of stream ORDERS" in create.asked[0] and "subjects" in create.asked[0]
    assert "file storage, which cannot be changed" in cli(f"{line} --create --storage memory", status=64).err
    assert js.info(url, "ORDERS")["state"]["messages"] == 3
    cli(f"{line} --purge --force", status=0)
    assert js.info(url, "ORDERS")["state"]["messages"] == 2


def test_wrong_input_is_one_line(cli: Cli, url: str) -> None:
    js.stream(url, "S", "other")
    lines: Sequence[tuple[str, str, int]] = [
        ("pub 'a b'", "not a valid subject", 64),
        ("pub a --msgs 0", "--msgs", 64),
        ("pub a --clients 0", "--clients", 64),
        ("pub a --rate 5 --sleep 1ms", "cannot be used together", 64),
        ("pub a --size 100MB", "--size", 64),
        ("pub a --size 2MB", "the server takes", 64),
        ("pub a -H nocolon", "use K:V", 64),
        ("sub a --rate 5", "--rate is not for", 64),
        ("js pub sync a --persistasync --replicas 3", "one replica", 64),
        ("js pub batch a --persistasync", "batches", 64),
        ("js pub batch a --batch 1001", "--batch", 64),
        ("js pub sync a --stream S", "does not take a", 64),
        ("js pub batch other --stream S", "--allow-batch", 1),
        ("js pub fast other --stream S", "--allow-fast", 1),
        ("js consume --stream nope", "stream nope not found", 3),
        ("js get sync --stream S", "has no message", 3),
        ("js ordered --stream nope", "stream nope not found", 3),
    ]
    for line, text, status in lines:
        outcome = cli(f"bench {line}", status=status)
        errors = [part for part in outcome.err.splitlines() if part.startswith("jsctl: error")]
        assert len(errors) == 1 and text in errors[0], (line, outcome.err)
        assert not outcome.out, line


def test_nobody_is_there(offline_cli: Cli) -> None:
    for line in ("pub a", "js consume", "kv put --clients 2"):
        outcome = offline_cli(f"bench {line} --server nats://127.0.0.1:1", status=4)
        assert len(outcome.err.splitlines()) == 1


def test_a_line_for_each_client(filled: Cli, tmp_path: Path) -> None:
    filled(f"bench js get sync --msgs 20 --clients 2 --processes 0 --csv {tmp_path}/out.csv", status=0)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec") and len(lines) == 3
    assert lines[1].split(",")[1:4] == ["C1", "20", "2560"]
    table = filled("bench js get sync --msgs 20 --as csv", status=0).out.splitlines()
    assert table[0].startswith("client,messages,time_ns") and len(table) == 2


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


def test_ctrl_c_before_anything(cli: Cli) -> None:
    waiting = start(cli, "sub nothing")
    try:
        assert waiting.stderr
        line = waiting.stderr.readline()
        assert "Subscribing" in line and "waiting for the first message, ctrl-C ends it" in line
        out, err = stop(waiting)
    finally:
        waiting.kill()
    assert waiting.returncode == 130 and not out and "Traceback" not in err


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    """One that may be killed."""
    running = RealServer(tmp_path / "server", CONFIG).start()
    yield running
    running.stop()


@pytest.mark.parametrize("clients", [1, 2])
def test_a_server_that_dies(clients: int, server: RealServer, tmp_path: Path) -> None:
    js.stream(server.url, "S", "m", storage="memory", max_msgs=10)
    cli = Cli(tmp_path, server.url)
    running = start(cli, f"js pub async m --stream S --msgs 100000000 --clients {clients}")
    try:
        wait_for(lambda: js.info(server.url, "S")["state"]["last_seq"] > 20, "messages are published")
        server.kill()
        out, err = running.communicate(timeout=20)
    finally:
        running.kill()
    assert running.returncode == 4 and "stored" in out
    assert [line for line in err.splitlines() if "error" in line] == [
        f"jsctl: error: lost the connection to {server.url}"
    ]


def test_workers_end_with_us(cli: Cli, url: str) -> None:
    js.stream(url, "S", "m", storage="memory", max_msgs=10)
    running = start(cli, "js pub sync m --stream S --msgs 100000000 --clients 2")
    wait_for(lambda: js.info(url, "S")["state"]["last_seq"] > 20, "messages are published")
    running.kill()
    running.communicate(timeout=20)
    wait_for(lambda: not _workers(cli), "the workers have ended")


def _workers(cli: Cli) -> list[str]:
    marked = f"HOME={cli.home}".encode()
    pids = []
    for folder in Path("/proc").iterdir() if Path("/proc").exists() else []:
        try:
            if (
                b"jsctl.bench.worker" in (folder / "cmdline").read_bytes()
                and marked in (folder / "environ").read_bytes()
            ):
                pids.append(folder.name)
        except OSError:
            continue
    return pids


def test_a_bar_on_a_terminal(cli: Cli) -> None:
    terminal = cli.terminal("bench pub events --msgs 300 --rate 400")
    terminal.expect("Publishing without acks.*/300")
    terminal.expect("300 published")
    terminal.wait()
    assert terminal.exitstatus == 0
    quiet = cli.terminal("bench pub events --msgs 100 --rate 400 --no-progress")
    quiet.expect("100 published")
    assert "/100" not in str(quiet.before)
    quiet.wait()
