"""An account with something in it."""

import pytest

from tests.support.js import ask, info, publish, stream
from tests.support.waiting import wait_for


@pytest.fixture
def account(url: str) -> str:
    """A file stream, a memory stream, a mirror and a consumer."""
    stream(url, "ORDERS", "ORDERS.>")
    stream(url, "MEM", "mem", storage="memory")
    publish(url, "ORDERS.new", b"one", count=30)
    publish(url, "mem", b"two", count=20)
    stream(url, "A_MIRROR", mirror={"name": "ORDERS"})
    wait_for(lambda: info(url, "A_MIRROR")["state"]["messages"] == 30, "the mirror is late")
    config = {"durable_name": "NEW", "ack_policy": "explicit", "description": "fresh"}
    ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    return url
