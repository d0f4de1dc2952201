"""Streams with messages in partitions, and consumers such as orbit.go's members create."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli

Join = Callable[..., None]


@pytest.fixture
def orders(cli: Cli, url: str) -> Cli:
    """ORDERS, with 20 messages of ten customers on orders.N."""
    js.stream(url, "ORDERS", "orders.*", allow_direct=True)
    js.publish_all(url, ((f"orders.{number % 10}", b"x") for number in range(20)))
    return cli


@pytest.fixture
def parts(cli: Cli, url: str) -> Cli:
    """PARTS, whose subjects begin with the partition: 3 messages in each of 0 to 3."""
    js.stream(url, "PARTS", *(f"{number}.>" for number in range(4)), allow_direct=True)
    js.publish_all(url, ((f"{number % 4}.o.{number}", b"x") for number in range(12)))
    return cli


@pytest.fixture
def join(url: str) -> Join:
    """Create the consumer of a member, as its program does when it joins."""

    def create(stream: str, name: str, *filters: str) -> None:
        config: dict[str, Any] = {
            "name": name,
            "durable_name": name,
            "ack_policy": "explicit",
            "filter_subjects": filters,
            "priority_groups": ["PCG"],
            "priority_policy": "pinned_client",
            "priority_timeout": 10_000_000_000,
        }
        body = {"stream_name": stream, "config": config, "action": "create"}
        js.ask(url, f"CONSUMER.CREATE.{stream}.{name}", body)

    return create


def read_config(cli: Cli, kind: str, key: str) -> dict[str, Any]:
    """Return the stored configuration of a group."""
    config: dict[str, Any] = json.loads(cli(f"kv get {kind}-consumer-groups {key} --raw", status=0).out)
    return config
