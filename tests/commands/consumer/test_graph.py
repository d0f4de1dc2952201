"""`consumer graph` on a real server."""

import json

import pytest

from tests.support import js
from tests.support.emulator import Watched
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


@pytest.mark.slow
def test_graph(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a", count=3)
    lines = cli("con graph ORDERS C --every 100ms --count 2 --json", status=0).out.splitlines()
    assert [json.loads(line)["num_pending"] for line in lines] == [3, 3]
    assert "Delivered/s" in cli("con graph ORDERS C --every 100ms --count 1", status=0).out
    watched = Watched(cli.terminal("con graph ORDERS C --every 100ms", rows=40))
    watched.until("Consumer Statistics for ORDERS > C")
    watched.until("Messages Delivered / second")
    watched.press("q")
    assert watched.end() == 0
