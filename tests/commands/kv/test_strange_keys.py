"""Keys and values that no client of buckets stores, but anybody may publish."""

import pytest

from tests.support import js
from tests.support.run import Cli

KEY, SHOWN = "k\x1b[2J\x07.\u202eü", "k\\x1b[2J\\x07.\\u202eü"


@pytest.fixture
def strange(cli: Cli, url: str) -> Cli:
    js.bucket(url, "B", max_msgs_per_subject=3)
    js.publish(url, f"$KV.B.{KEY}", b"v\x1b[2J\x07")
    js.publish(url, "$KV.B.a*b", b"star")
    js.publish_framed(url, "$KV.B.op", b"NATS/1.0\r\nKV-Operation: DANCE\r\n\r\n", b"v")
    return cli


def test_they_are_shown_without_controls(strange: Cli) -> None:
    for line in ("ls B", "ls B -v", "ls B -v --display-value", "get B '>'", "history B '>'", "export B"):
        for tty in (True, False):
            shown = strange(f"kv {line}", tty=tty, environ={"NO_COLOR": "1"}, status=0).out
            assert not set("\x1b\x07\u202e") & set(shown), (line, tty)
            assert "a*b" in shown
    assert SHOWN in strange("kv ls B", tty=True, status=0).out


@pytest.mark.parametrize("key", [KEY, SHOWN])
def test_they_can_be_read_and_removed(strange: Cli, key: str) -> None:
    assert strange(["kv", "get", "B", key, "--raw"], status=0).out == "v\x1b[2J\x07"
    strange(["kv", "history", "B", key], status=0)
    strange(["kv", "del", "B", key, "--force"], status=0)
    strange(["kv", "revert", "B", key, "1", "--force"], status=0)
    strange(["kv", "purge", "B", key, "--force"], status=0)
    strange(["kv", "get", "B", key], status=3)


def test_a_star_within_a_token_is_not_a_wildcard(strange: Cli) -> None:
    assert strange("kv get B 'a*b' --raw", status=0).out == "star"
    strange("kv del B 'a*b' --force", status=0)
    assert "a*b" not in strange("kv ls B", status=0).out


def test_an_unknown_operation_is_a_value(strange: Cli) -> None:
    assert strange("kv get B op --raw", status=0).out == "v"


def test_streams_that_are_not_quite_buckets(cli: Cli, url: str) -> None:
    js.stream(url, "KV_ODD", "odd.>", "$KV.ODD.>")
    js.publish(url, "odd.1", b"x")
    js.publish(url, "$KV.ODD.k", b"v")
    assert cli("kv ls ODD", status=0).out == "k\n"
    assert cli("kv get ODD '>' --raw", status=0).out == "v\n"
    assert len(cli("kv history ODD '>' --json", status=0).json) == 1
    assert "unlimited" in cli("kv info ODD", status=0).out
