"""`stream state` on a real server."""

import re

from tests.support import js
from tests.support.run import Cli


def test_state(orders: Cli, url: str) -> None:
    shown = orders("stream state ORDERS", status=0).out
    assert shown.startswith("State for Stream ORDERS created ")
    assert re.search(r"Messages: 5\n +Bytes: 233 B\n", shown), shown
    assert "Deleted Messages: 1" in shown
    assert "Subjects" not in shown.split("State:")[0]
    assert orders("stream state ORDERS --json", status=0).json["state"] == js.info(url, "ORDERS")["state"]
    assert "specify STREAM" in orders("stream state --no-select", status=64).err


def test_a_stream_that_is_left_out_is_picked(orders: Cli) -> None:
    outcome = orders("stream state", tty=True, answers=["ORDERS"], status=0)
    assert outcome.asked == ["Select a Stream"]
    assert outcome.out.startswith("State for Stream ORDERS")
