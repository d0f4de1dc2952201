"""consumer next: messages as people and pipes get them, acknowledgements, and every way that it ends."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for

READ_ONE = "import sys; sys.stdin.buffer.raw.read(1)"


@pytest.fixture(autouse=True)
def stream(url: str) -> None:
    js.stream(url, "S", "s.>")


@pytest.fixture
def pull(cli: Cli) -> None:
    cli("consumer add S C --pull --defaults", status=0)


def state(cli: Cli, name: str = "C") -> dict[str, int]:
    info = cli(f"consumer info S {name} --json", status=0).json
    return {"pending": info["num_pending"], "acks": info["num_ack_pending"]}


def raw(cli: Cli, line: str, **more: Any) -> "subprocess.CompletedProcess[bytes]":
    """The real process, for its bytes."""
    return subprocess.run(
        [sys.executable, "-m", "jsctl", *line.split()],
        env={**cli.environ, "PATH": ""},
        capture_output=True,
        check=False,
        timeout=60,
        **more,
    )


@pytest.mark.parametrize("tty", [True, False])
def test_it_prints_as_the_guide(cli: Cli, url: str, pull: None, tty: bool) -> None:
    cli("pub s.a 'hello world' -H X-Origin:'test:x 1' -H A:b", status=0)
    js.publish(url, "s.b", b"second")
    lines = cli("consumer next S C", tty=tty, status=0).out.split("\n")
    assert lines[0].split("] ")[1] == "subj: s.a / tries: 1 / cons seq: 1 / str seq: 1 / pending: 1"
    assert lines[1:] == [
        "",
        "Headers:",
        "",
        "  X-Origin: test:x 1",
        "  A: b",
        "",
        "Data:",
        "",
        "",
        "hello world",
        "",
        "Acknowledged message",
        "",
        "",
    ]
    lines = cli("consumer next S C", tty=tty, status=0).out.split("\n")
    assert lines[1:] == ["", "second", "", "Acknowledged message", "", ""]
    assert state(cli) == {"pending": 0, "acks": 0}


def test_no_ack_nak_and_term(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", count=3)
    assert "cknowledged" not in cli("consumer next S C --no-ack", status=0).out
    assert state(cli) == {"pending": 2, "acks": 1}
    assert "\nNegative Acknowledged message\n" in cli("consumer next S C --nak", status=0).out
    again = cli("consumer next S C", status=0).out
    assert "tries: 2 / cons seq: 3 / str seq: 2" in again
    assert "\nTerminated message\n" in cli("consumer next S C --term", status=0).out
    assert state(cli) == {"pending": 0, "acks": 1}
    for line in ("--ack --term", "--nak --term", "--ack --nak"):
        assert "cannot be used together" in cli(f"consumer next S C {line}", status=64).err


def test_count_fetches_batches_and_never_more(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", count=1300)
    done = cli("consumer next S C --count 1201", status=0)
    assert done.out.count("Acknowledged message\n") == 1201
    assert "cons seq: 1201 / str seq: 1201 / pending: 99\n" in done.out
    info = cli("consumer info S C --json", status=0).json
    # One more asked for would have been delivered.
    assert (info["delivered"]["consumer_seq"], info["num_ack_pending"], info["num_pending"]) == (1201, 0, 99)


@pytest.mark.slow
def test_fewer_than_asked_for(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", count=5)
    began = time.monotonic()
    done = cli("consumer next S C --count 10 --timeout 1s", status=3)
    assert time.monotonic() - began < 10
    assert done.out.count("subj:") == 5
    assert done.err == "jsctl: 5 of 10 messages; no more arrived in 1s\n"


@pytest.mark.slow
def test_messages_that_come_later_are_waited_for(cli: Cli, url: str, pull: None) -> None:
    def later() -> None:
        for _ in range(3):
            time.sleep(0.6)  # each within the timeout, all of them beyond it
            js.publish(url, "s.a")

    publisher = threading.Thread(target=later)
    publisher.start()
    done = cli("consumer next S C --count 3 --timeout 1s", status=0)
    publisher.join()
    assert done.out.count("subj:") == 3


def test_no_message(cli: Cli, pull: None) -> None:
    done = cli("consumer next S C --timeout 200ms", status=3)
    assert (done.out, done.err) == ("", "jsctl: error: no message for S > C in 200ms\n")


def test_no_consumer_and_no_stream(cli: Cli) -> None:
    assert "consumer S > NO not found" in cli("consumer next S NO", status=3).err
    assert "stream NO not found" in cli("consumer next NO C", status=3).err


def test_a_push_consumer(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    cli("consumer add S P --target x --defaults", status=0)
    done = cli("consumer next S P", status=1)
    assert done.out == ""
    assert done.err.startswith("jsctl: error: consumer S > P is push-based: nothing can be pulled from it;")
    assert len(done.err.splitlines()) == 1


def test_limits_of_the_consumer_are_kept_to(cli: Cli, url: str) -> None:
    cli("consumer add S C --pull --max-pull-batch 3 --max-pull-expire 1s --max-pull-bytes 1KB", status=0)
    js.publish(url, "s.a", b"x" * 100, count=20)
    assert cli("consumer next S C --count 20 --raw", status=0).out == ("x" * 100 + "\n") * 20


def test_max_waiting(cli: Cli, url: str) -> None:
    cli("consumer add S C --pull --max-waiting 1 --defaults", status=0)
    other = cli.terminal("consumer next S C --timeout 5s")
    try:
        wait_for(
            lambda: cli("consumer info S C --json", status=0).json["num_waiting"] == 1,
            "the other client's pull does not wait",
        )
        done = cli("consumer next S C --timeout 1s", status=1)
        assert "Exceeded MaxWaiting (409); other clients' pulls fill its queue" in done.err
    finally:
        other.terminate(force=True)


def test_priority_groups(cli: Cli, url: str) -> None:
    cli("consumer add S C --pull --pinned-groups a --defaults", status=0)
    js.publish(url, "s.a", count=1200)
    assert "name one of its priority groups: --group" in cli("consumer next S C", status=1).err
    # More than one request: those after the first carry the pin.
    assert cli("consumer next S C --group a --count 1200 --raw", status=0).out == "x\n" * 1200


def test_an_ack_none_consumer(cli: Cli, url: str) -> None:
    js.publish(url, "s.a")
    cli("consumer add S C --pull --ack none --defaults", status=0)
    assert "Acknowledged message" not in cli("consumer next S C --no-ack", status=0).out
    js.publish(url, "s.a")
    one = cli("consumer next S C", status=0)
    assert "the consumer does not need any" in one.err
    assert "cknowledged" not in one.out
    js.publish(url, "s.a", count=3)
    many = cli("consumer next S C --count 3", status=0)
    assert "nobody received 3 of 3 acknowledgements" in many.err
    assert many.out.count("subj: s.a") == 3
    assert "cknowledged" not in many.out


def test_wait_delays_the_acknowledgement(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", count=2)
    done = cli("consumer next S C --count 2 --wait 50ms", status=0)
    assert done.out.count("Acknowledged message after ") == 2


def test_json(cli: Cli, url: str, pull: None) -> None:
    cli("pub s.a text -H A:b", status=0)
    one = cli("consumer next S C --json", status=0).json
    assert one["subject"] == "s.a" and one["data"] == "text" and one["headers"] == {"A": ["b"]}
    assert (one["sequence"], one["delivered"], one["pending"], one["consumer"]) == (1, 1, 0, "C")
    js.publish(url, "s.a", b"\xff\x00")
    js.publish(url, "s.a", b"\x1b[31m")
    two = cli("consumer next S C --count 2 --json", status=0)
    assert [m.get("data_base64") or m["data"] for m in two.json] == ["/wA=", "\x1b[31m"]
    assert "\x1b" not in two.out


@pytest.mark.parametrize("line", ["", "--raw", "--count 1 --no-ack"])
def test_control_characters_never_reach_a_terminal(cli: Cli, url: str, pull: None, line: str) -> None:
    js.publish(url, "s.a", b"a\x1b[2Jb\x9bc")
    js.publish(url, "s.a", "\x1b]0;title\x07\u202ex".encode())
    cli("pub s.a '\x1b[1m' -H 'A:\x1b[5m'", status=0)
    for _ in range(3):
        out = cli(f"consumer next S C {line}", tty=True, status=0).out
        assert not set(out) & set("\x1b\x07\x9b\u202e"), out


def test_binary_is_shown_as_hex(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", bytes(range(32)))
    assert "00000000  00 01 02 03" in cli("consumer next S C", status=0).out


def test_raw_to_a_pipe_is_byte_for_byte(cli: Cli, url: str, pull: None) -> None:
    payloads = [bytes(range(256)), b"", b"text\r\n", b"\xff\xfe"]
    for payload in payloads:
        js.publish(url, "s.a", payload)
    done = raw(cli, "consumer next S C --count 4 --raw")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"".join(payload + b"\n" for payload in payloads)


def test_a_reader_that_disconnects(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "s.a", b"x" * 1000, count=1000)
    done = subprocess.run(
        f"{sys.executable} -m jsctl consumer next S C --count 1000 --raw | head -1",
        shell=True,
        env={**cli.environ, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"x" * 1000 + b"\n"
    assert done.stderr == b""


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "reader", "taken", "left"),
    [
        ("consumer next S C --count 5 --raw", "head -1", 1, 1),
        ("consumer next S C --count 30 --raw", "head -7", 7, 1),
        ("consumer next S C --count 5 --raw --json", "head -c 1", 0, 1),
        ("consumer next S C --count 5", "true", 0, 1),
        ("consumer next S C --count 5 --raw", f"python3 -c '{READ_ONE}'", 0, 1),
        ("consumer next S C --count 30 --raw", "cat", 30, 0),
        ("sub --stream S --durable C --raw --count 30", f"python3 -c '{READ_ONE}'", 0, 30),
        ("sub --stream S --durable C --raw --count 30", "cat", 30, 0),
    ],
)
def test_only_what_a_reader_took_is_acknowledged(
    verb: str, reader: str, taken: int, left: int, cli: Cli, url: str, pull: None
) -> None:
    """Of the others, at most one is taken from other clients until its ack wait is over."""
    js.publish_all(url, (("s.a", str(number).encode()) for number in range(1, 31)))
    line = f"{sys.executable} -m jsctl {verb} | {reader}"
    done = subprocess.run(
        ["bash", "-c", line],
        env={**cli.environ, "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"Traceback" not in done.stderr
    info = js.ask(url, "CONSUMER.INFO.S.C")
    assert (info["ack_floor"]["stream_seq"], info["num_ack_pending"]) == (taken, left), info


def test_a_denied_next(tmp_path: Path) -> None:
    from tests.support.servers import RealServer

    config = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
authorization { users: [
  {user: all, password: all}
  {user: few, password: few, permissions: {publish: {deny: "$JS.API.CONSUMER.MSG.NEXT.>"}}}
  {user: mute, password: mute, permissions: {publish: {deny: "$JS.ACK.>"}}}
] }
"""
    server = RealServer(tmp_path, config)
    try:
        server.start()
        js.stream(server.url_for("all"), "S", "s.>")
        js.publish(server.url_for("all"), "s.a")
        Cli(tmp_path / "all", server.url_for("all"))("consumer add S C --pull --defaults", status=0)
        began = time.monotonic()
        denied = Cli(tmp_path / "few", server.url_for("few"))("consumer next S C --timeout 60s", status=5)
        assert time.monotonic() - began < 30
        assert "MSG.NEXT" in denied.err.lower().replace("msg.next", "MSG.NEXT")
        mute = Cli(tmp_path / "mute", server.url_for("mute"))("consumer next S C --timeout 1s")
        assert mute.status != 0
        assert "\nAcknowledged message\n" not in mute.out
        assert "acknowledgement" in mute.err
    finally:
        server.stop()


def test_a_server_that_dies(tmp_path: Path) -> None:
    from tests.support.servers import RealServer

    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    server = RealServer(tmp_path, config)
    try:
        server.start()
        js.stream(server.url, "S", "s.>")
        cli = Cli(tmp_path / "c", server.url)
        cli("consumer add S C --pull --defaults", status=0)
        threading.Timer(1, server.kill).start()
        began = time.monotonic()
        done = cli("consumer next S C --timeout 60s", status=4)
        assert time.monotonic() - began < 30
        assert "lost the connection" in done.err
        assert "Traceback" not in done.err
    finally:
        server.stop()


def test_an_array_is_closed_when_it_fails_midway(cli: Cli, url: str) -> None:
    js.publish(url, "s.a", count=2)
    config = {"durable_name": "C", "ack_policy": "none"}
    js.ask(url, "CONSUMER.CREATE.S.C", {"stream_name": "S", "config": config})

    def remove() -> None:
        wait_for(lambda: js.ask(url, "CONSUMER.INFO.S.C")["delivered"]["stream_seq"] == 2, "the deliveries")
        js.ask(url, "CONSUMER.DELETE.S.C")

    removal = threading.Thread(target=remove)
    removal.start()
    failed = cli("consumer next S C --count 5 --json", status=3)
    removal.join()
    assert [record["sequence"] for record in failed.json] == [1, 2]
    assert failed.err.count("\n") == 1
