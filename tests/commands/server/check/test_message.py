"""`server check message`."""

import time

from tests.support import js
from tests.support.checks import check
from tests.support.run import Cli


def test_a_message(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    assert "no message" in str(check(cli, "message --stream ORDERS --subject orders", 2)["critical"])
    js.publish(url, "orders", b"")
    for line in ("", " --content ."):
        outcome = check(cli, f"message --stream ORDERS --subject orders{line}", 2)
        assert outcome["critical"] == ["the content does not match ."]
    js.publish(url, "orders", b"all good")
    assert check(cli, "message --stream ORDERS --subject orders")["ok"] == [
        "the message on ORDERS > orders is valid"
    ]
    assert check(cli, "message --stream ORDERS --age-critical 1h --content good")["status"] == "OK"
    assert check(cli, "message --stream ORDERS --content bad", 2)["critical"] == [
        "the content does not match bad"
    ]
    assert "not a valid regular expression" in str(
        check(cli, "message --stream ORDERS --content '('", 2)["critical"]
    )


def test_a_body_that_is_a_time_in_seconds(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    line = "message --stream ORDERS --subject orders --body-timestamp --age-warn 30s --age-critical 1h"
    for ago, status in ((1, 0), (60, 1), (7200, 2)):
        js.publish(url, "orders", b"%.3f" % (time.time() - ago))
        check(cli, line, status)
