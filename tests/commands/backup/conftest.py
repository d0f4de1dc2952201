"""A stream that the tests of backups have in common."""

import os

import pytest

from tests.support.js import ask, publish, stream


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
