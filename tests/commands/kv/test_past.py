"""`--at` of `kv get`, `kv ls` and `kv diff`."""

from collections.abc import Iterator

import pytest

from tests.support import js
from tests.support.run import Cli

T = tuple[Cli, str]


def put(cli: Cli, words: str) -> None:
    cli(f"kv put H {words}", status=0)


@pytest.fixture
def past(cli: Cli, url: str) -> Iterator[T]:
    """H, which keeps three values of a key, and the time at which a was 1 and b was x; now a is 2, b is
    deleted and c is new."""
    js.bucket(url, "H", max_msgs_per_subject=3)
    put(cli, "a 1")
    put(cli, "b x")
    time = cli("kv get H b --json", status=0).json["created"]
    put(cli, "a 2")
    put(cli, "c new")
    cli("kv del H b --force", status=0)
    yield cli, time


def test_what_is_there_is_shown_as_it_was(past: T) -> None:
    cli, time = past
    assert cli(f"kv get H a --at {time} --raw", status=0).out == "1"
    assert cli(f"kv get H b --at {time} --json", status=0).json["value"] == "x"
    assert cli(f"kv ls H --at {time}", status=0).out == "a\nb\n"
    assert [one["value"] for one in cli(f"kv get H '>' --at {time} --json", status=0).json] == ["1", "x"]
    verbose = cli(f"kv ls H --at {time} --verbose --display-value --json", status=0).json
    assert [(one["key"], one["revision"], one["value"]) for one in verbose] == [("a", 1, "1"), ("b", 2, "x")]
    assert "key c did not exist at" in cli(f"kv get H c --at {time}", status=3).err
    assert "key none not found" in cli(f"kv get H none --at {time}", status=3).err
    assert "no key matches c.*" in cli(f"kv get H 'c.*' --at {time}", status=3).err
    assert cli("kv ls H --at 0s", status=0).out == "a\nc\n"
    assert "key b had no value at 20" in cli("kv get H b --at 0s", status=3).err
    for line in ("kv get H a --at ''", "kv ls H --at=", "kv diff H H --at 0s --to-at ''"):
        assert "at is empty; give a value" in cli(line, status=64).err  # not what is there now


def test_what_is_gone_is_not_guessed(past: T) -> None:
    cli, time = past
    for value in "345":
        put(cli, f"a {value}")
    for line in (f"kv get H a --at {time}", f"kv get H c --at {time}"):
        assert "cannot be known: its oldest entry that is left is revision" in cli(line, status=1).err
    listed = cli(f"kv ls H --at {time}", status=0)
    assert listed.out == "b\n"
    assert "warning: what 2 keys had at 20" in listed.err and "only later values are left: a, c" in listed.err
    assert "messages from before 20" in listed.err
    assert cli(f"kv get H 'a' 'b' --at {time} --raw", status=1).out == "x\n"
    assert "and what it was at 20" in cli(f"kv get H none --at {time}", status=3).err


def test_differences_to_a_time(past: T) -> None:
    cli, time = past
    document = cli(f"kv diff H --at {time} --json", status=2).json
    changes = [(one["key"], one["change"]) for one in document["differences"]]
    assert changes == [("a", "changed"), ("b", "removed"), ("c", "added")]
    assert document["unknown"] == []
    assert cli(f"kv diff H H a --at {time} --to-at {time} --json", status=0).json["same"] == 1
    assert "unknown" not in cli("kv diff H H --json", status=0).json
    for value in "345":
        put(cli, f"a {value}")
    document = cli(f"kv diff H --at {time} --json", status=2).json
    assert [one["key"] for one in document["differences"]] == ["b"]
    assert document["unknown"] == ["a", "c"]
    assert "; 2 other keys cannot be compared" in cli(f"kv diff H --at {time}").out
    assert "cannot be known" in cli(f"kv diff H H a --at {time}", status=1).err


def test_a_value_with_a_ttl_may_have_come_between(cli: Cli, url: str) -> None:
    cli("kv add H --history 5 --marker-ttl 1s", status=0)
    put(cli, "a 1")
    put(cli, "b 1 --ttl 1h")
    time = cli("kv get H b --json", status=0).json["created"]
    put(cli, "a 2")
    assert cli(f"kv ls H --at {time}", status=0).err == ""
    js.ask(url, "STREAM.PURGE.KV_H", {"filter": "$KV.H.b"})  # gone, as when it expires
    listed = cli(f"kv ls H --at {time}", status=0)
    assert listed.out == "a\n"
    assert "a value with a TTL that has expired since is not known" in listed.err


def test_times_that_are_not_valid(past: T) -> None:
    cli, _ = past
    assert "is not a time" in cli("kv get H a --at nonsense", status=64).err
    assert "is in the future" in cli("kv ls H --at 2099-01-01", status=64).err
    assert "--to-at 'x' is not a time" in cli("kv diff H --at 1h --to-at x", status=64).err
    cli("kv get H a --at 1h --revision 1", status=64)
    cli("kv ls --at 1h", status=64)
    cli("kv diff H", status=64)


def test_keys_of_which_nothing_is_known_are_no_missing_keys(cli: Cli, url: str) -> None:
    js.bucket(url, "H", max_msgs_per_subject=1)
    put(cli, "u.1 old")
    time = cli("kv get H u.1 --json", status=0).json["created"]
    put(cli, "u.1 new")
    result = cli(f"kv get H 'u.*' --at {time} --json", status=0)
    assert result.json == []
    assert "what 1 key had at 20" in result.err and "only later values are left: u.1" in result.err
    assert "no key matches v.*" in cli(f"kv get H 'u.*' 'v.*' --at {time}", status=3).err
