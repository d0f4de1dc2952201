"""What ends without all that was requested, and says so."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sub nothing --count 2 --timeout 200ms", "jsctl: 0 of 2 messages; no more arrived in 200ms"),
        ("sub --stream S --count 2 --timeout 200ms --raw", "jsctl: 1 of 2 messages; no more arrived"),
        ("consumer sub S C --count 2 --timeout 200ms --raw", "jsctl: 1 of 2 messages; no more arrived"),
        ("kv watch B --count 2 --timeout 200ms", "jsctl: 1 of 2 changes; no more arrived in 200ms"),
        ("kv watch B --count 2 --wait 200ms", "jsctl: 1 of 2 changes; no more arrived in 200ms"),
        ("object watch O --count 2 --timeout 200ms", "jsctl: 0 of 2 changes; no more arrived in 200ms"),
        ("reply nothing x --count 2 --timeout 200ms", "jsctl: 0 of 2 requests; no more arrived in 200ms"),
    ],
)
def test_timeout_ends_what_counts(cli: Cli, url: str, line: str, words: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", b"x")
    consumer = {"durable_name": "C", "ack_policy": "explicit"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.S.C", {"stream_name": "S", "config": consumer})
    for verb in ("kv add B", "kv put B k v", "object add O"):
        cli(verb, status=0)
    assert words in cli(line, status=3).err
    assert words not in cli("kv watch B --wait 200ms", status=0).err


def test_a_wildcard_within_a_token_is_explained(cli: Cli, url: str) -> None:
    cli("kv add B", status=0)
    words = "in 'te*' the * stands for itself: a wildcard is a whole token"
    for verb in ("sub", "kv watch B", "kv ls B"):
        assert words in cli([*verb.split(), "te*", *(["--wait", "100ms"] * (verb != "kv ls B"))]).err


def test_fewer_replies_than_requested(cli: Cli, url: str) -> None:
    js.stream(url, "A", "both")  # its ack is the only reply
    refused = cli("req both x --replies 5 --timeout 1s", status=4)
    assert "1 of 5 replies on both arrived; --reply-timeout waits longer for the next" in refused.err


def test_a_paused_consumer_says_so(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", b"x")
    consumer = {"durable_name": "C", "ack_policy": "explicit", "pause_until": "2099-01-01T00:00:00Z"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.S.C", {"stream_name": "S", "config": consumer})
    outcome = cli("consumer next S C --timeout 300ms", status=3)
    assert "no message for S > C: it is paused until 2099-01-01" in outcome.err
    assert "jsctl consumer resume S C" in outcome.err
