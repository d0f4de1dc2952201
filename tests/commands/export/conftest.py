"""What exports read in these tests."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def streams(cli: Cli, url: str) -> Cli:
    """ORDERS with two messages, and COPY that mirrors it."""
    js.stream(url, "ORDERS", "ORDERS.>")
    js.stream(url, "COPY", mirror={"name": "ORDERS"}, storage="memory")
    js.publish_all(url, [("ORDERS.new", b"one"), ("ORDERS.new", b"two")])
    js.wait_until_stored(url, "COPY", 2)
    return cli
