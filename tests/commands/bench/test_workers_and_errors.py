"""What holds for several verbs of `jsctl bench`: processes, questions, errors."""

import os
import signal
import threading
from collections.abc import Sequence

import pytest

from jsctl.bench import crew
from tests.support import js
from tests.support.benching import run, workers
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.mark.slow
def test_workers_are_processes_of_their_own(filled: Cli, url: str) -> None:
    document = run(
        filled, "js pub async events.1 --clients 3 --processes 2 --msgs 90 --create --force --storage memory"
    )
    assert [one["messages"] for one in document["clients"]] == [30, 30, 30]
    assert document["options"]["processes"] == 2
    assert not workers(filled)
    shown = filled("bench js ordered --msgs 90 --clients 2", tty=True, status=0)
    assert "2 clients in 2 processes" in shown.err and "Clients" in shown.out


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
        ("js pub fast a --max-outstanding-acks -1", "--max-outstanding-acks", 64),
        ("js pub fast a --max-outstanding-acks 65536", "--max-outstanding-acks", 64),
        ("pub a --size 100MB", "--size", 64),
        ("pub a --size 2MB", "the server accepts", 64),
        ("pub a -H nocolon", "use K:V", 64),
        ("sub a --rate 5", "--rate cannot be used with", 64),
        ("js pub sync a --persistasync --replicas 3", "one replica", 64),
        ("js pub batch a --persistasync", "batches", 64),
        ("js pub batch a --batch 1001", "--batch", 64),
        ("js pub sync a --stream S", "stream S does not store a; --create adds it", 64),
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


@pytest.mark.long
@pytest.mark.parametrize("paused", ["at the start", "while it measures"])
def test_a_worker_that_is_paused(paused: str, cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark ends, and its workers, too."""
    monkeypatch.setattr(crew, "SILENT_SECONDS", 2)
    is_measuring = threading.Event()
    monkeypatch.setattr(crew.Bench, "_start", lambda bench: is_measuring.set())
    pids = []

    def pause() -> None:
        wait_for(lambda: workers(cli), "no worker")
        if paused == "while it measures":
            assert is_measuring.wait(20)
        pids.append(int(workers(cli)[0]))
        os.kill(pids[0], signal.SIGSTOP)

    thread = threading.Thread(target=pause)
    thread.start()
    ended = cli("bench pub x --clients 2 --processes 2 --msgs 100000000", status=1)
    thread.join()
    assert f"process {pids[0]} of the benchmark has not responded for 2s; it is paused" in ended.err
    assert not workers(cli)
