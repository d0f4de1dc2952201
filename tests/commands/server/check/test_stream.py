"""`server check stream`."""

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_a_stream(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>", metadata={"io.nats.monitor.msgs-critical": "3"})
    for number in range(2):
        js.publish(url, f"orders.{number}")
    assert check(cli, "stream --stream ORDERS", 2)["critical"] == ["messages 2, at least 3"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 2")["ok"] == ["messages 2"]
    assert check(cli, "stream --stream ORDERS --msgs-critical 2 --subjects-warn 1", 1)["warning"] == [
        "subjects 2, at most 1"
    ]
    assert (
        "CRITICAL NONE Crit:stream NONE not found" in cli("server check stream --stream NONE", status=2).out
    )
    js.stream(url, "COPY", mirror={"name": "ORDERS"})
    assert check(cli, "stream --stream COPY --lag-critical 100 --peer-expect 3", 2)["critical"]
