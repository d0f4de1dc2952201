"""`consumer pause` and `consumer resume` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_pause_and_resume(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a")
    assert cli("con pause ORDERS C 1h -f", status=0).out.endswith("(1h0m0s)\n")
    assert "Paused Until" in cli("con info ORDERS C", status=0).out
    assert cli("con next ORDERS C --timeout 300ms").status == 3
    done = cli("con resume ORDERS C", tty=True, answers=[True], status=0)
    assert done.asked == ["Really resume Consumer ORDERS > C"]
    assert done.out.startswith("Consumer ORDERS > C was resumed while previously paused until 20")
    assert cli("con next ORDERS C --timeout 1s").status == 0
    assert "is not paused" in cli("con resume ORDERS C -f", status=1).err
    assert "in the future" in cli(["con", "pause", "ORDERS", "C", "2020-01-01 00:00:00", "-f"], status=1).err
    assert "neither a time" in cli("con pause ORDERS C whenever -f", status=64).err
    assert "specify UNTIL" in cli("con pause ORDERS C -f", status=64).err
    questions = cli("con pause ORDERS C", tty=True, answers=[..., True], status=0).asked
    assert questions[0] == "Pause until (time or duration)"
    assert questions[1].startswith("Really pause Consumer ORDERS > C until 20")
