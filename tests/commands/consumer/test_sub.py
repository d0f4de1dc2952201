"""`consumer sub` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_sub(cli: Cli, url: str) -> None:
    js.publish(url, "ORDERS.a", b"one")
    js.publish(url, "ORDERS.a", b"two")
    cli("con add ORDERS PULL --pull", status=0)
    assert cli("con sub ORDERS PULL --count 2 --raw", status=0).out == "one\ntwo\n"
    assert cli("con info ORDERS PULL --json", status=0).json["ack_floor"]["stream_seq"] == 2
    cli("con add ORDERS PUSH --target p.x --deliver-group g", status=0)
    assert "two" in cli("con sub ORDERS PUSH --count 2 --deliver-group g", status=0).out
    assert "does not deliver to h" in cli("con sub ORDERS PUSH --deliver-group h", status=64).err
    assert "consumer ORDERS > NO not found" in cli("con sub ORDERS NO", status=3).err
    js.publish(url, "ORDERS.a", b"three")
    assert cli("con sub ORDERS PULL --raw", status=0).out == "three\n"
    assert "no message" in cli("con sub ORDERS PULL --timeout 200ms", status=3).err
    assert cli("con ls ORDERS --json", status=0).json == ["PULL", "PUSH"]
