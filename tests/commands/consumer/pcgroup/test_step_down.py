"""`consumer pcgroup step-down`."""

import pytest

from tests.commands.consumer.pcgroup.conftest import Join
from tests.support import js
from tests.support.run import Cli


@pytest.mark.usefixtures("outputs_are_valid")
def test_step_down(orders: Cli, url: str, join: Join) -> None:
    orders("consumer pcgroup create ORDERS WORK 2 m1 m2", status=0)
    step_down = "consumer pcgroup step-down ORDERS WORK"
    assert "no process of member m1" in orders(f"{step_down} m1 --force", status=1).err
    join("ORDERS-WORK", "m1", "0.>")
    assert "no client is pinned" in orders(f"{step_down} m1 --force", status=1).err
    orders("consumer next ORDERS-WORK m1 --group PCG --count 1", status=0)
    info = js.ask(url, "CONSUMER.INFO.ORDERS-WORK.m1")
    pinned = info["priority_groups"][0]["pinned_client_id"]
    assert orders(f"{step_down} m1 --dry-run --json", status=0).json["client"] == pinned
    assert pinned in orders(f"{step_down} m1 --force", status=0).out
    info = js.ask(url, "CONSUMER.INFO.ORDERS-WORK.m1")
    assert not info["priority_groups"][0].get("pinned_client_id")
    assert "has no member m9; its members: m1, m2" in orders(f"{step_down} m9 --force", status=3).err
