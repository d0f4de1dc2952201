"""`server check consumer`."""

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_a_consumer(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    js.publish(url, "orders")
    cli("consumer add ORDERS WORK --pull --defaults", status=0)
    line = "consumer --stream ORDERS --consumer WORK"
    assert check(cli, f"{line} --unprocessed-critical 1")["ok"] == ["unprocessed messages 1"]
    assert check(cli, f"{line} --unprocessed-critical 0", 2)["critical"] == [
        "unprocessed messages 1, at most 0"
    ]
    assert check(cli, f"{line} --last-delivery-critical 1m", 2)["critical"] == ["last delivery never"]
