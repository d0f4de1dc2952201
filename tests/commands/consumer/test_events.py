"""`consumer events` on a real server."""

import pexpect
import pytest

from tests.support import js
from tests.support.connections import wait_for_subscribers
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


@pytest.mark.slow
def test_events(cli: Cli, url: str, pull: None) -> None:
    cli("con edit ORDERS C --sample 100 -f", status=0)
    cli("con add ORDERS OTHER --pull --sample 100", status=0)
    screen = cli.terminal("con events ORDERS C --count 2 --short")
    screen.expect_exact("Listening for events on $JS.EVENT.METRIC.CONSUMER.*.ORDERS.C")
    wait_for_subscribers(url, "$JS.EVENT.METRIC.CONSUMER.*.ORDERS.C")
    js.publish(url, "ORDERS.a")
    cli("con next ORDERS OTHER", status=0)
    cli("con next ORDERS C --nak", status=0)
    cli("con next ORDERS C", status=0)
    screen.expect(pexpect.EOF)
    shown = str(screen.before)
    assert shown.count("ORDERS > C") == 2
    assert "OTHER" not in shown
    assert "consumer ORDERS > NO not found" in cli("con events ORDERS NO", status=3).err
