"""`consumer info` and `consumer state` on a real server."""

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_info_and_state(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a", count=3)
    cli("con next ORDERS C", status=0)
    shown = cli("con info ORDERS C", status=0).out
    for line in (
        "Information for Consumer ORDERS > C created 20",
        "                    Name: C\n",
        "               Pull Mode: true\n",
        "          Filter Subject: ORDERS.a\n",
        "          Deliver Policy: All\n",
        "              Ack Policy: Explicit\n",
        "                Ack Wait: 30s\n",
        "           Replay Policy: Instant\n",
        "           Sampling Rate: 50\n",
        "         Max Ack Pending: 1,000\n",
        "       Max Waiting Pulls: 512\n",
        "  Last Delivered Message: Consumer sequence: 1 Stream sequence: 1 Last delivery: ",
        "    Acknowledgment Floor: Consumer sequence: 1 Stream sequence: 1 Last Ack: ",
        "        Outstanding Acks: 0 out of maximum 1,000\n",
        "    Redelivered Messages: 0\n",
        "    Unprocessed Messages: 2\n",
        "           Waiting Pulls: 0 of maximum 512\n",
    ):
        assert line in shown
    state = cli("con state ORDERS C", status=0).out
    assert state.startswith("State for Consumer ORDERS > C created ")
    assert "Ack Policy" not in state
    assert cli("con nfo ORDERS C -j", status=0).json["config"]["sample_freq"] == "50"


def test_info_of_a_push_consumer(cli: Cli) -> None:
    line = (
        "con add ORDERS P --target p.x --deliver-group g --ack all --flow-control --heartbeat 5s --deliver 7"
    )
    shown = cli(line, status=0).out
    for line in (
        "Delivery Subject: p.x\n",
        "Deliver Queue Group: g\n",
        "Deliver Policy: From Sequence 7\n",
        "Ack Policy: All\n",
        "Idle Heartbeat: 5s\n",
        "Flow Control: true\n",
        "Active Interest: No interest\n",
    ):
        assert line in shown
    assert "Waiting Pulls" not in shown


def test_foreign_text_is_made_safe(cli: Cli, url: str) -> None:
    config = {"durable_name": "C", "ack_policy": "explicit", "description": "[red]\x1b[31mx\x1b[0m"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": config})
    for line in ("con info ORDERS C", "con ls ORDERS", "con report ORDERS", "con info ORDERS C --json"):
        shown = cli(line, tty=True, status=0).out
        assert "\x1b[31m" not in shown
    assert "[red]\\x1b[31mx" in cli("con info ORDERS C", tty=True, status=0).out


def test_names_can_be_picked(cli: Cli, pull: None) -> None:
    done = cli("con info", tty=True, answers=["ORDERS", "C"], status=0)
    assert done.asked == ["Select a Stream", "Select a Consumer"]
    assert "the consumer's name is missing" in cli("con info ORDERS", status=64).err
    for verb in ("info", "state"):
        assert (
            "a name is missing" in cli(f"con {verb} ORDERS --no-select", tty=True, answers=[], status=64).err
        )
