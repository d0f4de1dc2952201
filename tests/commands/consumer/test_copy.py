"""`consumer copy` on a real server."""

import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def test_copy(cli: Cli, pull: None) -> None:
    config = cli("con cp ORDERS C D --filter ORDERS.b --json", status=0).json["config"]
    assert (config["durable_name"], config["filter_subject"], config["sample_freq"]) == (
        "D",
        "ORDERS.b",
        "50",
    )
    push = cli("con copy ORDERS C E --target e.x --heartbeat 1s --json", status=0).json["config"]
    assert (push["deliver_subject"], push.get("max_waiting")) == ("e.x", None)
    back = cli("con copy ORDERS E F --pull --json", status=0).json["config"]
    assert (back.get("deliver_subject"), back.get("idle_heartbeat")) == (None, None)
    assert "already exists" in cli("con copy ORDERS C D --filter ORDERS.b", status=0).out
    temporary = cli("con copy ORDERS C T --ephemeral --json", status=0).json
    assert (temporary["name"], temporary["config"].get("durable_name")) == ("T", None)
    assert "the name of its source" in cli("con copy ORDERS C C", status=64).err
    assert "consumer ORDERS > NO not found" in cli("con copy ORDERS NO D", status=3).err
