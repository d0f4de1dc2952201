"""`server network status`."""

import json

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_status(networks: Networks, pair: str) -> None:
    document = json.loads(networks(f"status {pair} --json"))
    assert {server["server"]: server["status"] for server in document["servers"]} == {
        "hub": "up",
        "leaf": "up",
    }
    shown = networks(f"status {pair}")
    assert "hub" in shown and "leaf" in shown
    assert "there is no network 'none'" in networks("status none", 3)
    assert "100ms" in networks(f"status {pair} --watch 1ms", 64)
