"""What the tests of backups have in common: a stream and an account with something in them."""

import os

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


@pytest.fixture
def mixed(url: str) -> str:
    """A stream with gaps, headers, an empty message and a consumer that is half way."""
    stream(url, "ORDERS", "ORDERS.>", description="all [red]orders[/red]", metadata={"team": "a"})
    for number in range(12):
        publish(url, f"ORDERS.{number % 3}", b"" if number == 4 else os.urandom(40 * number))
    for sequence in (1, 5, 12):
        ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": sequence})
    config = {"durable_name": "NEW", "ack_policy": "explicit", "filter_subject": "ORDERS.1"}
    ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.NEW", {"stream_name": "ORDERS", "config": config})
    return url
