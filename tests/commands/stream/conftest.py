"""Streams that the tests of several verbs use."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def orders(cli: Cli, url: str) -> Cli:
    """ORDERS with 6 messages on two subjects; 3 is deleted."""
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    for number in range(1, 6):
        js.publish(url, "ORDERS.new", f"order {number}".encode())
    js.publish(url, "ORDERS.other", b"bye")
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 3})
    return cli
