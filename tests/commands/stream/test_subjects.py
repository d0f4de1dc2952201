"""`stream subjects` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli


def test_subjects(orders: Cli) -> None:
    shown = orders("stream subjects ORDERS", status=0).out
    assert shown.splitlines() == [
        "2 Subjects in stream ORDERS",
        "Subject       Count",
        "ORDERS.other      1",
        "ORDERS.new        4",
    ]
    assert orders("str subj ORDERS --json", status=0).json == {"ORDERS.other": 1, "ORDERS.new": 4}
    assert orders("stream subjects ORDERS --names --sort name", status=0).out == "ORDERS.new\nORDERS.other\n"
    assert orders("stream subjects ORDERS --names -R", status=0).out == "ORDERS.new\nORDERS.other\n"
    assert (
        orders("stream subjects ORDERS ORDERS.o*", status=0).out == "No subjects found matching ORDERS.o*\n"
    )
    assert orders("stream subjects ORDERS '*.other' --names", status=0).out == "ORDERS.other\n"
    counts = orders("stream subjects ORDERS --names --json", status=0).json
    assert counts == {"ORDERS.other": 1, "ORDERS.new": 4}
    assert "╭" in orders("stream subjects ORDERS", tty=True, status=0).out
    assert orders("stream subjects ORDERS a..b", status=64).out == ""


@pytest.mark.slow
def test_subjects_come_in_pages(cli: Cli, url: str) -> None:
    js.stream(url, "MANY", "many.*", storage="memory")
    js.publish_all(url, ((f"many.{number}", b"") for number in range(100_003)))
    result = cli("stream subjects MANY --json", status=0).json
    assert len(result) == 100_003
    assert set(result.values()) == {1}
