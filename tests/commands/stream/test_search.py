"""`stream search` on a real server."""

import json
import time
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def shops(cli: Cli, url: str) -> Cli:
    """Three streams of orders: 1 to 400 in SHOP_A, which allows direct gets, 301 to 500 in SHOP_B, and one in
    OTHER; and one message that is no JSON."""
    orders = {"SHOP_A": range(1, 401), "SHOP_B": range(301, 501), "OTHER": range(77, 78)}
    for name, numbers in orders.items():
        js.stream(url, name, f"{name}.>", allow_direct=name == "SHOP_A")
        js.publish_all(
            url,
            [(f"{name}.{n % 2}", json.dumps({"order": n, "to": {"land": "nl"}}).encode()) for n in numbers],
        )
    js.publish(url, "SHOP_A.bad", b"\xff no order 77")
    return cli


def found(records: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return sorted((record["stream"], json.loads(record["data"])["order"]) for record in records)


def test_one_stream(shops: Cli, url: str) -> None:
    outcome = shops('stream search SHOP_A --match "order == 77" --json', status=0)
    assert found(outcome.json) == [("SHOP_A", 77)]
    assert "1 message could not be decoded as json; the first: SHOP_A.bad #401" in outcome.err
    assert shops('stream search SHOP_A --match "order == 777" --json', status=0).json == []
    shown = shops("stream search SHOP_A --match 'order == 77 and to.land == \"nl\"'", status=0).out
    assert shown.startswith("[77] Subject: SHOP_A.1 Received: ")
    assert js.info(url, "SHOP_A")["state"]["consumer_count"] == 0


def test_several_streams(shops: Cli) -> None:
    line = "stream search 'SHOP_*' OTHER --match 'order in [77, 350, 450]'"
    expected = [("OTHER", 77), ("SHOP_A", 77), ("SHOP_A", 350), ("SHOP_B", 350), ("SHOP_B", 450)]
    assert found(shops(f"{line} --json", status=0).json) == expected
    assert "SHOP_B [50] Subject: SHOP_B.0" in shops(line, status=0).out
    assert len(shops(f"{line} --raw --count 2", status=0).out.splitlines()) == 2


def test_where_it_starts_and_what_it_reads(shops: Cli) -> None:
    line = "stream search SHOP_A SHOP_B --match 'order >= 399 and order <= 401' --json"
    assert found(shops(f"{line} --id 100", status=0).json) == [
        ("SHOP_A", 399),
        ("SHOP_A", 400),
        *(("SHOP_B", 400), ("SHOP_B", 401)),
    ]
    assert found(shops(f"{line} --subject *.1 --since 1h", status=0).json) == [
        ("SHOP_A", 399),
        ("SHOP_B", 399),
        ("SHOP_B", 401),
    ]


@pytest.mark.slow
def test_the_rate_is_bounded(shops: Cli) -> None:
    start = time.monotonic()
    shops("stream search SHOP_A SHOP_B --match 'order == 1' --max-rate 400 --json", status=0)
    assert time.monotonic() - start > 1.3  # 601 messages


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("SHOP_A", 64, "--match is missing"),
        ("MISSING SHOP_A --match 'a > 1'", 3, "stream MISSING not found"),
        ("'X*' --match 'a > 1'", 3, "no stream matches X*"),
        ("--match 'a > 1'", 64, "the stream's name is missing"),
        ("SHOP_A --match 'a >'", 64, "the expression is incomplete"),
        ("SHOP_A --match 'a > 1' --max-rate -1", 64, "--max-rate"),
        ("SHOP_A --match 'a > 1' --id 5 --since 1h", 64, "cannot be used together"),
    ],
)
def test_wrong_lines(shops: Cli, line: str, status: int, words: str) -> None:
    outcome = shops(f"stream search {line}", status=status)
    assert words in outcome.err
    assert outcome.out == ""
