"""`stream view` on a real server."""

import asyncio
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.connections import connections
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for


def consumers(url: str, stream: str) -> int:
    return int(js.info(url, stream)["state"]["consumer_count"])


def sequences(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\[(\d+)\] Subject: ", text, re.MULTILINE)]


def test_view_in_a_pipe(orders: Cli, url: str) -> None:
    shown = orders("stream view ORDERS", status=0)
    assert sequences(shown.out) == [1, 2, 4, 5, 6]
    assert re.match(
        r"\[1\] Subject: ORDERS.new Received: [\d-]+ [\d:.]+(?:Z|[+-]\d\d:\d\d)\norder 1\n\n\[2\]", shown.out
    )
    assert shown.err == ""
    assert sequences(orders("stream view ORDERS 2", status=0).out) == [1, 2]
    assert sequences(orders("stream view ORDERS --id 3", status=0).out) == [4, 5, 6]
    assert sequences(orders("stream view ORDERS --id 100", status=0).out) == []
    assert sequences(orders("stream view ORDERS --subject '*.other'", status=0).out) == [6]
    assert sequences(orders("stream view ORDERS 1 --subject ORDERS.new --id 3", status=0).out) == [4]
    assert sequences(orders("stream view ORDERS --match 'text matches \"order [25]\"'", status=0).out) == [
        2,
        5,
    ]
    assert orders("stream view ORDERS 2 --raw", status=0).out == "order 1\norder 2\n"
    assert consumers(url, "ORDERS") == 0


def test_view_as_json(orders: Cli) -> None:
    result = orders("stream view ORDERS --json --match 'text == \"bye\"'", status=0).json
    assert [{**message, "time": ""} for message in result] == [
        {"sequence": 6, "time": "", "stream": "ORDERS", "subject": "ORDERS.other", "data": "bye"}
    ]
    assert orders("stream view ORDERS --json --match 'text == \"nothing\"'", status=0).json == []
    assert len(orders("stream view ORDERS 3 --json", status=0).json) == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--match '^order'", "for a regular expression, write: text matches 'REGEX'"),
        ("--match 'order = 77'", "at '= 77'; values are compared with =="),
        ("--id 1 --since 1h", "used together"),
        ("--subject a..b", "not a valid subject"),
        ("--raw --json", "used together"),
        ("--as csv", "no table"),
        ("--since soon", "not a duration"),
    ],
)
def test_view_with_wrong_flags(orders: Cli, line: str, words: str) -> None:
    outcome = orders(f"stream view ORDERS {line}", status=64)
    assert outcome.out == ""
    assert words in outcome.err


@pytest.mark.slow
def test_view_by_time(orders: Cli, url: str) -> None:
    assert sequences(orders("stream view ORDERS --since 1h", status=0).out) == [1, 2, 4, 5, 6]
    assert sequences(orders("stream view ORDERS --since 0s", status=0).out) == []
    time.sleep(1.2)  # what is there is older than 1s then
    js.publish(url, "ORDERS.new", b"late")
    assert sequences(orders("stream view ORDERS --since 1s", status=0).out) == [7]
    assert sequences(orders("stream view ORDERS --since 1s --subject ORDERS.other", status=0).out) == []


@pytest.mark.parametrize("retention", ["workqueue", "interest"])
def test_view_takes_nothing_from_a_queue(cli: Cli, url: str, retention: str) -> None:
    js.stream(url, "Q", "q.>", retention=retention)
    worker = {"stream_name": "Q", "config": {"durable_name": "w", "ack_policy": "explicit"}}
    js.ask(url, "CONSUMER.DURABLE.CREATE.Q.w", worker)
    js.publish(url, "q.a", b"work", count=3)
    assert sequences(cli("stream view Q", status=0).out) == [1, 2, 3]
    assert sequences(cli("stream view Q --match 'text contains \"work\"'", status=0).out) == [1, 2, 3]
    info = js.info(url, "Q")
    assert (info["state"]["messages"], info["state"]["consumer_count"]) == (3, 1)


@pytest.mark.parametrize("direct", [True, False])
def test_view_goes_over_large_holes(cli: Cli, url: str, direct: bool) -> None:
    js.stream(url, "HOLES", "holes.*", storage="memory", allow_direct=direct)
    js.publish_all(url, ((f"holes.{number % 100 == 7}", b"%d" % number) for number in range(1, 3001)))
    js.ask(url, "STREAM.PURGE.HOLES", {"filter": "holes.False"})
    js.publish(url, "holes.end", b"end", count=700)
    wanted = [n for n in range(1, 3001) if n % 100 == 7] + list(range(3001, 3701))
    assert sequences(cli("stream view HOLES", status=0).out) == wanted
    assert sequences(cli("stream view HOLES --subject holes.True", status=0).out) == wanted[:30]
    assert sequences(cli("stream view HOLES --match 'text == \"end\"'", status=0).out) == wanted[30:]


def test_view_pages_on_a_terminal(orders: Cli) -> None:
    outcome = orders("stream view ORDERS 2", tty=True, answers=[True, False], status=0)
    assert outcome.asked == ["Next Page?", "Next Page?"]
    assert sequences(outcome.out) == [1, 2, 4, 5]
    whole = orders("stream view ORDERS 5", tty=True, answers=[], status=0)
    assert sequences(whole.out) == [1, 2, 4, 5, 6]
    assert "Reached apparent end of data" in whole.err


def test_view_in_a_real_terminal(orders: Cli) -> None:
    child = orders.terminal("stream view ORDERS 4")
    child.expect_exact("[5] Subject: ORDERS.new")
    child.expect_exact("Next Page?")
    child.send("y\r")
    child.expect_exact("[6] Subject: ORDERS.other")
    child.expect_exact("Reached apparent end of data")
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    assert child.exitstatus == 0


def test_stored_headers_that_look_like_the_servers_own(cli: Cli, url: str) -> None:
    js.stream(url, "H", "h", allow_direct=True)
    cli("pub h body -H Nats-Stream:FAKE -H Nats-Sequence:99 -H A:1 -H A:2 -J", status=0)
    for line in ("stream view H --json", "stream view H 1 --json"):
        result = cli(line, status=0).json
        assert [(m["sequence"], m["headers"]) for m in result] == [
            (1, {"Nats-Stream": ["FAKE"], "Nats-Sequence": ["99"], "A": ["1", "2"]})
        ], line


def test_a_mirror_does_not_answer_for_its_origin(cli: Cli, url: str) -> None:
    """With mirror_direct the mirror answers direct gets of its origin, deleted messages included."""
    js.stream(url, "ORIGIN", "origin.*", allow_direct=True)
    js.publish_all(url, ((f"origin.{n % 20 == 1}", b"%d" % n) for n in range(1, 42)))
    js.stream(url, "COPY", mirror={"name": "ORIGIN"}, allow_direct=True, mirror_direct=True)
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 41, "the mirror is late")
    js.ask(url, "STREAM.PURGE.ORIGIN", {"filter": "origin.False"})
    for _ in range(8):
        assert sequences(cli("stream view ORIGIN --match 'size >= 0'", status=0).out) == [1, 21, 41]


def test_a_subject_that_is_not_text(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_direct=True)

    async def publish() -> None:
        connection = await Connection.open(Settings(url=url))
        await connection.send(b"PUB s.\xff 1\r\nx\r\n")
        await connection.flush()
        await connection.close()

    asyncio.run(publish())
    for line in ("stream view S --json", "stream view S 1 --json", "stream view S --subject s.* --json"):
        assert [m["subject"] for m in cli(line, status=0).json] == ["s.\ufffd"], line


def follower(cli: Cli, line: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", *shlex.split(line)],
        env={**cli.environ, "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_follow(orders: Cli, url: str) -> None:
    process = follower(orders, "stream view ORDERS --since 0s --follow --json")
    try:
        wait_for(lambda: any(client["in_msgs"] for client in connections(url)), "it asks for nothing")
        results: list[dict[str, Any]] = []
        for number in range(3):
            js.publish(url, "ORDERS.new", b"new %d" % number)
            assert process.stdout
            results.append(json.loads(process.stdout.readline()))
        assert [(m["sequence"], m["data"]) for m in results] == [(7, "new 0"), (8, "new 1"), (9, "new 2")]
        assert consumers(url, "ORDERS") == 0
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()
        process.wait()


def test_follow_ends_with_its_number_and_with_its_stream(orders: Cli, url: str) -> None:
    assert sequences(orders("stream view ORDERS 5 --follow", status=0).out) == [1, 2, 4, 5, 6]
    process = follower(orders, "stream view ORDERS --follow --raw")
    try:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(5)][-1] == "bye\n"
        js.ask(url, "STREAM.DELETE.ORDERS")
        _, err = process.communicate(timeout=60)
        assert process.returncode == 3
        assert "stream not found (10059)" in err
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_follow_waits_for_a_server_that_was_killed(offline_cli: Cli, tmp_path: Path) -> None:
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    server = RealServer(tmp_path, config).start()
    offline_cli.environ["NATS_URL"] = server.url
    process = None
    try:
        js.stream(server.url, "S", "s")
        js.publish(server.url, "s", b"before")
        process = follower(offline_cli, "stream view S --follow --raw")
        assert process.stdout
        assert process.stdout.readline() == "before\n"
        server.kill()
        assert process.stderr and "connection lost" in process.stderr.readline()
        server.start()
        js.publish(server.url, "s", b"after")
        assert process.stdout.readline() == "after\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "connected again" in err
    finally:
        if process:
            process.kill()
            process.wait()
        server.stop()
