"""`server check consumer`."""

from typing import Any

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.publish(url, "orders")
    cli("consumer add ORDERS WORK --pull --defaults", status=0)
    line = "consumer --stream ORDERS --consumer WORK"
    assert check(cli, f"{line} --unprocessed-critical 2")["ok"] == ["unprocessed messages 1"]
    assert check(cli, f"{line} --unprocessed-critical 1", 2)["critical"] == [
        "unprocessed messages 1, must be below 1"
    ]
    assert check(cli, f"{line} --unprocessed-critical 0")["ok"] == []
    assert check(cli, f"{line} --last-delivery-critical 1m", 2)["critical"] == ["last delivery never"]
    cli("consumer next ORDERS WORK --ack", status=0)
    outcome = check(cli, f"{line} --last-delivery-critical 1h --last-ack-critical 1m")
    measures = {measure["name"]: measure for measure in outcome["perf_data"]}
    assert (measures["last_delivery"]["critical"], measures["last_ack"]["critical"]) == (3600, 60)
    assert check(cli, f"{line} --last-delivery-critical 1us", 2)["critical"]


def test_pinned_groups(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    config: dict[str, Any] = {"durable_name": "P", "ack_policy": "explicit", "priority_groups": ["g"]}
    config |= {"priority_policy": "pinned_client", "priority_timeout": 10**10}
    js.ask(url, "CONSUMER.CREATE.ORDERS.P", {"stream_name": "ORDERS", "config": config})
    outcome = check(cli, "consumer --stream ORDERS --consumer P --pinned", 2)
    measures = {measure["name"]: measure["value"] for measure in outcome["perf_data"]}
    assert (measures["groups"], measures["pinned_groups"]) == (1, 0)
