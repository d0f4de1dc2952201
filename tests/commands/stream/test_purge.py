"""`stream purge` on a real server."""

import re
from itertools import product

import pytest

from tests.support import js
from tests.support.cases import sample
from tests.support.run import Cli


def test_purge(orders: Cli, url: str) -> None:
    shown = orders("str purge ORDERS -f", terminal_error=True, status=0).err
    assert shown.startswith("Purged 5 messages from ORDERS\n\nState for Stream ORDERS created ")
    assert re.search(r"Messages: 0\n +Bytes: 0 B\n +First Sequence: 7\n", shown), shown
    assert orders("stream purge ORDERS -f --json", status=0).json["state"]["messages"] == 0


def test_purge_asks_with_numbers(orders: Cli, url: str) -> None:
    no = orders("stream purge ORDERS", tty=True, answers=[False], status=0)
    assert no.asked == ["Really purge Stream ORDERS (5 messages, 233 B)"]
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    assert "use --force" in orders("stream purge ORDERS", status=64).err


def test_the_question_says_which_messages(cli: Cli, url: str) -> None:
    js.stream(url, "P", "p.>")
    js.publish(url, "p.a", b"x", count=3)
    for limits, shown in {
        "--subject 'p.*' --keep 1": " on p.*, except the newest 1 (2 messages, 68 B)",
        "--seq 3": " before sequence 3 (2 messages, 68 B)",
    }.items():
        no = cli(f"stream purge P {limits}", tty=True, answers=[False], status=0)
        assert no.asked == [f"Really purge Stream P{shown}"]


LIMITS = (
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
)


@pytest.mark.parametrize(
    ("storage", "direct", "limits"), sample(product(["file", "memory"], [True, False], LIMITS), 3)
)
def test_a_dry_run_says_what_goes(cli: Cli, url: str, storage: str, direct: bool, limits: str) -> None:
    js.stream(url, "P", "a.>", storage=storage, allow_direct=direct)
    for number in range(18):
        js.publish(url, "a.x" if number % 3 else "a.y", b"x" * number)
    for sequence in (4, 9):
        js.ask(url, "STREAM.MSG.DELETE.P", {"seq": sequence})
    cli("pub a.x headers -H A:b -J", status=0)
    before = js.info(url, "P")["state"]
    streams = cli(f"stream purge P {limits} --dry-run --json", status=0).json["streams"]
    assert js.info(url, "P")["state"] == before
    cli(f"stream purge P {limits} --force", status=0)
    after = js.info(url, "P")["state"]
    purged = before["messages"] - after["messages"], before["bytes"] - after["bytes"]
    assert streams == [{"stream": "P", "messages": purged[0], "bytes": purged[1], "exact": True}]


def test_the_size_of_many_is_reckoned(cli: Cli, url: str) -> None:
    js.stream(url, "P", "p", storage="memory")
    js.publish_all(url, (("p", b"x" * 100) for _ in range(3000)))
    shown = cli("stream purge P --keep 500 --dry-run", status=0).out
    assert shown.endswith("] Would purge Stream P: 2,500 messages, about 286 KiB\nNothing was changed\n")


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
    outcome = cli("stream purge KV_b", tty=True, answers=[True], status=0)
    assert "warning: KV_b belongs to a bucket" in outcome.err
    js.publish(url, "$KV.b.k", b"v")
    cli("stream --all purge '*' --force", status=0)
    assert js.info(url, "KV_b")["state"]["messages"] == 0


def test_nothing_is_purged_when_one_is_missing(orders: Cli, url: str) -> None:
    orders("stream purge ORDERS NOPE --force", status=3)
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    assert "used together" in orders("stream purge ORDERS --seq 3 --keep 1", status=64).err


@pytest.mark.parametrize("flag", ["--force", "--dry-run"])
def test_nothing_is_purged_when_one_denies_it(orders: Cli, url: str, flag: str) -> None:
    js.stream(url, "SAFE", "safe", deny_purge=True)
    refused = orders(f"stream purge ORDERS SAFE {flag}", status=1)
    alone = orders(f"stream purge SAFE {flag}", status=1)
    assert alone.err.startswith("jsctl: error: stream purge not permitted (10110)")
    assert "nothing was done: SAFE: stream purge not permitted (10110)" in refused.err
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
