"""What is in a stream: subjects, get, view, rmm, purge, gaps, seal, on a real server."""

import asyncio
import base64
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
from tests.support.run import Cli
from tests.support.servers import RealServer

BINARY = b"a\x00\x1b[31mred"


@pytest.fixture
def orders(cli: Cli, url: str) -> Cli:
    """ORDERS with 6 messages on two subjects; 3 is deleted."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    for number in range(1, 6):
        js.publish(url, "ORDERS.new", f"order {number}".encode())
    js.publish(url, "ORDERS.other", b"bye")
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 3})
    return cli


def consumers(url: str, stream: str) -> int:
    return int(js.info(url, stream)["state"]["consumer_count"])


# -- subjects and state ---------------------------------------------------------------------------


def test_subjects(orders: Cli) -> None:
    shown = orders("stream subjects ORDERS", status=0).out
    assert shown.splitlines() == [
        "2 Subjects in stream ORDERS",
        "Subject       Count",
        "ORDERS.other  1",
        "ORDERS.new    4",
    ]
    assert orders("str subj ORDERS --json", status=0).json == {"ORDERS.other": 1, "ORDERS.new": 4}
    assert orders("stream subjects ORDERS --names --sort name", status=0).out == "ORDERS.new\nORDERS.other\n"
    assert orders("stream subjects ORDERS --names -R", status=0).out == "ORDERS.new\nORDERS.other\n"
    assert (
        orders("stream subjects ORDERS ORDERS.o*", status=0).out == "No subjects found matching ORDERS.o*\n"
    )
    assert orders("stream subjects ORDERS '*.other' --names", status=0).out == "ORDERS.other\n"
    assert "╭" in orders("stream subjects ORDERS", tty=True, status=0).out
    assert orders("stream subjects ORDERS a..b", status=64).out == ""


def test_subjects_come_in_pages(cli: Cli, url: str) -> None:
    js.stream(url, "MANY", "many.*", storage="memory")
    js.publish_all(url, ((f"many.{number}", b"") for number in range(100_003)))
    found = cli("stream subjects MANY --json", status=0).json
    assert len(found) == 100_003
    assert set(found.values()) == {1}


def test_state(orders: Cli, url: str) -> None:
    shown = orders("stream state ORDERS", status=0).out
    assert shown.startswith("State for Stream ORDERS created ")
    assert re.search(r"Messages: 5\n +Bytes: 233 B\n", shown), shown
    assert "Deleted Messages: 1" in shown
    assert "Subjects" not in shown.split("State:")[0]
    assert orders("stream state ORDERS --json", status=0).json["state"] == js.info(url, "ORDERS")["state"]
    assert "give STREAM" in orders("stream state --no-select", status=64).err


def test_a_stream_that_is_left_out_is_picked(orders: Cli) -> None:
    outcome = orders("stream state", tty=True, answers=["ORDERS"], status=0)
    assert outcome.asked == ["Select a Stream"]
    assert outcome.out.startswith("State for Stream ORDERS")


# -- get ------------------------------------------------------------------------------------------


def test_get(orders: Cli) -> None:
    shown = orders("stream get ORDERS 2", status=0).out
    assert re.fullmatch(
        r"Item: ORDERS#2 received \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\S+\) on Subject ORDERS.new\n\norder 2\n",
        shown,
    )
    found = orders("stream get ORDERS -S 'ORDERS.*' --json", status=0).json
    assert (found["subject"], found["seq"]) == ("ORDERS.other", 6)
    assert base64.b64decode(found["data"]) == b"bye"


def test_get_shows_headers_in_their_order(cli: Cli, url: str) -> None:
    js.stream(url, "H", "h")
    cli("pub h body -H A:1 -H B:x -H A:2 -J", status=0)
    shown = cli("stream get H 1", status=0).out
    assert "\n\nHeaders:\n  A: 1\n  B: x\n  A: 2\n\nbody\n" in shown


def test_get_what_is_not_there(orders: Cli) -> None:
    for line in ("stream get ORDERS 3", "stream get ORDERS 99", "stream get ORDERS -S ORDERS.nope"):
        outcome = orders(line, status=3)
        assert outcome.out == ""
        assert "has no message" in outcome.err
    assert "give ID or --last-for" in orders("stream get ORDERS", status=64).err
    assert "exclude" in orders("stream get ORDERS 1 --last-for ORDERS.new", status=64).err


def test_get_asks(orders: Cli) -> None:
    by_subject = orders("stream get", tty=True, answers=["ORDERS", ..., "ORDERS.other"], status=0)
    assert by_subject.asked == [
        "Select a Stream",
        "Message Sequence to retrieve",
        "Subject to retrieve last message for",
    ]
    assert "bye" in by_subject.out
    assert "order 1" in orders("stream get ORDERS", tty=True, answers=["1"], status=0).out


def test_bytes_do_not_reach_the_terminal(cli: Cli, url: str) -> None:
    js.stream(url, "BIN", "bin")
    js.publish(url, "bin", BINARY)
    js.publish(url, "bin", b"text \x1b[31mred")
    for line in ("stream get BIN 1", "stream view BIN", "stream get BIN 1 --raw", "stream view BIN --raw"):
        shown = cli(line, tty=True, status=0).out
        assert "\x1b[31m" not in shown, line
        assert "\x00" not in shown, line
    assert "61 00 1b 5b" in cli("stream get BIN 1", status=0).out
    assert "text \\x1b[31mred" in cli("stream get BIN 2", tty=True, status=0).out
    assert cli("stream get BIN 1 --raw", status=0).out == BINARY.decode()
    assert cli("stream view BIN 1 --raw", status=0).out == BINARY.decode() + "\n"


def test_translate(orders: Cli) -> None:
    assert "ORDER 1" in orders("stream get ORDERS 1 --translate 'tr a-z A-Z'", status=0).out
    shown = orders(
        ["stream", "view", "ORDERS", "1", "--raw", "--translate", "echo {{Stream}} {{Subject}}"]
    ).out
    assert shown == "ORDERS ORDERS.new\n\n"
    # Nothing of a subject becomes a word of the command, and what the command complains of is shown.
    odd = orders(
        ["stream", "get", "ORDERS", "1", "--translate", "sh -c 'echo $0 >&2; exit 3' '{{Subject}} x'"]
    )
    assert odd.out.endswith("\n\nORDERS.new x\n")
    assert "cannot run" in orders("stream get ORDERS 1 --translate /no/such", status=64).err
    assert orders(["stream", "get", "ORDERS", "1", "--translate", "'"], status=64).out == ""


# -- view -----------------------------------------------------------------------------------------


def sequences(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\[(\d+)\] Subject: ", text, re.MULTILINE)]


def test_view_in_a_pipe(orders: Cli, url: str) -> None:
    shown = orders("stream view ORDERS", status=0)
    assert sequences(shown.out) == [1, 2, 4, 5, 6]
    assert re.match(r"\[1\] Subject: ORDERS.new Received: [\d-]+ [\d:]+\norder 1\n\n\[2\]", shown.out)
    assert shown.err == ""
    assert sequences(orders("stream view ORDERS 2", status=0).out) == [1, 2]
    assert sequences(orders("stream view ORDERS --id 3", status=0).out) == [4, 5, 6]
    assert sequences(orders("stream view ORDERS --id 100", status=0).out) == []
    assert sequences(orders("stream view ORDERS --subject '*.other'", status=0).out) == [6]
    assert sequences(orders("stream view ORDERS 1 --subject ORDERS.new --id 3", status=0).out) == [4]
    assert sequences(orders("stream view ORDERS --match 'order [25]'", status=0).out) == [2, 5]
    assert orders("stream view ORDERS 2 --raw", status=0).out == "order 1\norder 2\n"
    assert consumers(url, "ORDERS") == 0


def test_view_as_json(orders: Cli) -> None:
    found = orders("stream view ORDERS --json --match bye", status=0).json
    assert [{**message, "time": ""} for message in found] == [
        {"sequence": 6, "time": "", "stream": "ORDERS", "subject": "ORDERS.other", "data": "bye"}
    ]
    assert orders("stream view ORDERS --json --match nothing", status=0).json == []
    assert len(orders("stream view ORDERS 3 --json", status=0).json) == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--match '('", "no regular expression"),
        ("--id 1 --since 1h", "exclude"),
        ("--subject a..b", "no subject"),
        ("--raw --json", "exclude"),
        ("--as csv", "no table"),
        ("--since soon", "not a duration"),
    ],
)
def test_view_with_wrong_flags(orders: Cli, line: str, told: str) -> None:
    outcome = orders(f"stream view ORDERS {line}", status=64)
    assert outcome.out == ""
    assert told in outcome.err


def test_view_by_time(orders: Cli, url: str) -> None:
    assert sequences(orders("stream view ORDERS --since 1h", status=0).out) == [1, 2, 4, 5, 6]
    assert sequences(orders("stream view ORDERS --since 0s", status=0).out) == []
    time.sleep(1.2)
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
    assert sequences(cli("stream view Q --match work", status=0).out) == [1, 2, 3]
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
    assert sequences(cli("stream view HOLES --match ^end$", status=0).out) == wanted[30:]


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
    child.send("y")
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
        found = cli(line, status=0).json
        assert [(m["sequence"], m["headers"]) for m in found] == [
            (1, {"Nats-Stream": ["FAKE"], "Nats-Sequence": ["99"], "A": ["1", "2"]})
        ], line


def test_a_mirror_does_not_answer_for_its_origin(cli: Cli, url: str) -> None:
    """With mirror_direct the mirror answers direct gets of its origin, deleted messages included."""
    js.stream(url, "ORIGIN", "origin.*", allow_direct=True)
    js.publish_all(url, ((f"origin.{n % 20 == 1}", b"%d" % n) for n in range(1, 42)))
    js.stream(url, "COPY", mirror={"name": "ORIGIN"}, allow_direct=True, mirror_direct=True)
    deadline = time.monotonic() + 10
    while js.info(url, "COPY")["state"]["messages"] < 41:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    js.ask(url, "STREAM.PURGE.ORIGIN", {"filter": "origin.False"})
    for _ in range(8):
        assert sequences(cli("stream view ORIGIN --match .", status=0).out) == [1, 21, 41]


def test_a_subject_that_is_no_text(cli: Cli, url: str) -> None:
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
        time.sleep(1.5)
        found: list[dict[str, Any]] = []
        for number in range(3):
            js.publish(url, "ORDERS.new", b"new %d" % number)
            assert process.stdout
            found.append(json.loads(process.stdout.readline()))
        assert [(m["sequence"], m["data"]) for m in found] == [(7, "new 0"), (8, "new 1"), (9, "new 2")]
        assert consumers(url, "ORDERS") == 0
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
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
        _, err = process.communicate(timeout=10)
        assert process.returncode == 3
        assert "stream not found (10059)" in err
    finally:
        process.kill()
        process.wait()


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
        time.sleep(0.5)
        server.start()
        js.publish(server.url, "s", b"after")
        assert process.stdout.readline() == "after\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 0
        assert "connection lost" in err
        assert "connected again" in err
    finally:
        if process:
            process.kill()
            process.wait()
        server.stop()


# -- rmm ------------------------------------------------------------------------------------------


def test_rmm(orders: Cli, url: str) -> None:
    dry = orders("stream rmm ORDERS 1 --dry-run", status=0).out
    assert dry == "Would remove from Stream ORDERS: 1 message, 47 B\n  1  ORDERS.new\nNothing was changed\n"
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    assert orders("str rmm ORDERS 1 -f", status=0).out == "Removed message 1 from Stream ORDERS\n"
    state = js.info(url, "ORDERS")["state"]
    assert (state["messages"], state["bytes"]) == (4, 233 - 47)
    assert "no message 1" in orders("stream rmm ORDERS 1 -f", status=3).err
    assert "give --force" in orders("stream rmm ORDERS 2", status=64).err
    assert "give ID" in orders("stream rmm ORDERS -f", status=64).err


def test_rmm_asks(orders: Cli, url: str) -> None:
    no = orders("stream rmm", tty=True, answers=["ORDERS", "2", False], status=1)
    assert no.asked == [
        "Select a Stream",
        "Message Sequence to remove",
        "Really remove message 2 (ORDERS.new, 47 B) from Stream ORDERS",
    ]
    assert "nothing was changed" in no.err
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    orders("stream rmm ORDERS 2 4", tty=True, answers=[True], status=0)
    assert js.info(url, "ORDERS")["state"]["messages"] == 3


# -- purge ----------------------------------------------------------------------------------------


def test_purge(orders: Cli, url: str) -> None:
    shown = orders("str purge ORDERS -f", status=0).out
    assert shown.startswith("Purged 5 messages from ORDERS\n\nState for Stream ORDERS created ")
    assert re.search(r"Messages: 0\n +Bytes: 0 B\n +First Sequence: 7\n", shown), shown
    assert orders("stream purge ORDERS -f --json", status=0).json["state"]["messages"] == 0


def test_purge_asks_with_numbers(orders: Cli, url: str) -> None:
    no = orders("stream purge ORDERS", tty=True, answers=[False], status=1)
    assert no.asked == ["Really purge Stream ORDERS (5 messages, 233 B)"]
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    assert "give --force" in orders("stream purge ORDERS", status=64).err


@pytest.mark.parametrize("storage", ["file", "memory"])
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize(
    "limits",
    [
        "",
        "--keep 2",
        "--keep 99",
        "--seq 1",
        "--seq 5",
        "--seq 17",
        "--seq 99",
        "--subject a.x",
        "--subject 'a.*' --keep 3",
        "--subject a.x --seq 8",
        "--subject a.y --seq 99",
        "--subject a.nothing",
        "--subject a.nothing --seq 5",
        "--keep 0",
    ],
)
def test_a_dry_run_says_what_goes(cli: Cli, url: str, storage: str, direct: bool, limits: str) -> None:
    js.stream(url, "P", "a.>", storage=storage, allow_direct=direct)
    for number in range(18):
        js.publish(url, "a.x" if number % 3 else "a.y", b"x" * number)
    for sequence in (4, 9):
        js.ask(url, "STREAM.MSG.DELETE.P", {"seq": sequence})
    cli("pub a.x headers -H A:b -J", status=0)
    before = js.info(url, "P")["state"]
    said = cli(f"stream purge P {limits} --dry-run --json", status=0).json["streams"]
    assert js.info(url, "P")["state"] == before
    cli(f"stream purge P {limits} --force", status=0)
    after = js.info(url, "P")["state"]
    purged = before["messages"] - after["messages"], before["bytes"] - after["bytes"]
    assert said == [{"stream": "P", "messages": purged[0], "bytes": purged[1], "exact": True}]


def test_the_size_of_many_is_reckoned(cli: Cli, url: str) -> None:
    js.stream(url, "P", "p", storage="memory")
    js.publish_all(url, (("p", b"x" * 100) for _ in range(3000)))
    shown = cli("stream purge P --keep 500 --dry-run", status=0).out
    assert shown == "Would purge Stream P: 2,500 messages, about 286 KiB\nNothing was changed\n"


def test_purge_of_several_asks_once(cli: Cli, url: str) -> None:
    for name in ("LOGS_1", "LOGS_2", "KEEP"):
        js.stream(url, name, name)
        js.publish(url, name, b"x", count=2)
    outcome = cli("stream purge 'LOGS_*' LOGS_1", tty=True, answers=[True], status=0)
    assert outcome.asked == [
        "Really purge 2 Streams (4 messages, 148 B: LOGS_1: 2 messages, 74 B; LOGS_2: 2 messages, 74 B)"
    ]
    left = {name: js.info(url, name)["state"]["messages"] for name in ("LOGS_1", "LOGS_2", "KEEP")}
    assert left == {"LOGS_1": 0, "LOGS_2": 0, "KEEP": 2}
    assert len(cli("stream purge 'LOGS_*' --force --json", status=0).json) == 2
    assert "no stream matches NOPE*" in cli("stream purge 'NOPE*' -f", status=3).err


def test_a_pattern_leaves_buckets_alone(cli: Cli, url: str) -> None:
    js.stream(url, "KV_b", "$KV.b.>")
    js.stream(url, "A", "a")
    js.publish(url, "$KV.b.k", b"v")
    cli("stream purge '*' --force", status=0)
    assert js.info(url, "KV_b")["state"]["messages"] == 1
    asked = cli("stream purge KV_b", tty=True, answers=[True], status=0)
    assert "warning: KV_b belongs to a bucket" in asked.err
    js.publish(url, "$KV.b.k", b"v")
    cli("stream --all purge '*' --force", status=0)
    assert js.info(url, "KV_b")["state"]["messages"] == 0


def test_nothing_is_purged_when_one_is_missing(orders: Cli, url: str) -> None:
    orders("stream purge ORDERS NOPE --force", status=3)
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    assert "exclude" in orders("stream purge ORDERS --seq 3 --keep 1", status=64).err


def test_what_was_purged_is_told_when_a_later_one_is_refused(orders: Cli, url: str) -> None:
    js.stream(url, "SAFE", "safe", deny_purge=True)
    outcome = orders("stream purge ORDERS SAFE --force", status=1)
    assert outcome.err.startswith("Purged 5 messages from ORDERS\njsctl: error: ")
    assert "purge" in outcome.err.splitlines()[1]


# -- gaps -----------------------------------------------------------------------------------------


def test_gaps(orders: Cli, url: str) -> None:
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 4})
    shown = orders("stream gaps ORDERS -f --no-progress", status=0).out
    assert shown.splitlines() == [
        "1 gap found in Stream ORDERS",
        "First Message  Last Message  Missing",
        "3              4             2",
    ]
    assert orders("stream gaps ORDERS --json", status=0).json == [[3, 4]]
    js.stream(url, "WHOLE", "whole")
    assert orders("stream gaps WHOLE", status=0).out == "No deleted messages in WHOLE\n"
    assert orders("stream gaps WHOLE --json", status=0).json == []


@pytest.mark.parametrize("direct", [True, False])
def test_gaps_by_reading_are_those_of_the_server(
    cli: Cli, url: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    js.stream(url, "G", "g.*", storage="memory", allow_direct=direct)
    gone = [number % 7 == 0 or 6000 < number < 9500 for number in range(12001)]
    js.publish_all(url, ((f"g.{gone[number]}", b"") for number in range(1, 12001)))
    js.ask(url, "STREAM.PURGE.G", {"filter": "g.True"})
    known = cli("stream gaps G --json", status=0).json
    assert [n for first, last in known for n in range(first, last + 1)] == [
        number for number in range(1, 12001) if gone[number]
    ]
    assert [6001, 9499] in known
    monkeypatch.setattr("jsctl.jetstream.stream.gaps.DETAILS", 0)
    assert "give --force" in cli("stream gaps G", status=64).err
    assert cli("stream gaps G --json --force", status=0).json == known
    asked = cli("stream gaps G", tty=True, answers=[False], status=1).asked
    assert asked[0].startswith("Really read all of Stream G (")


# -- seal -----------------------------------------------------------------------------------------


def test_seal(orders: Cli, url: str) -> None:
    assert "give --force" in orders("stream seal ORDERS", status=64).err
    no = orders("stream seal ORDERS", tty=True, answers=[False], status=1)
    assert no.asked == [
        "Really seal Stream ORDERS (5 messages, 233 B), sealed streams can not be unsealed or modified"
    ]
    before = js.info(url, "ORDERS")["config"]
    assert re.search(r"Sealed: true\n", orders("stream seal ORDERS -f", status=0).out)
    after = js.info(url, "ORDERS")["config"]
    assert after["sealed"]
    assert {key: after[key] for key in ("name", "subjects", "allow_direct")} == {
        key: before[key] for key in ("name", "subjects", "allow_direct")
    }
    refused = orders("stream purge ORDERS --force", status=1)
    assert refused.out == ""
    assert "(10" in refused.err
    assert "sealed already" in orders("stream seal ORDERS", status=0).err
