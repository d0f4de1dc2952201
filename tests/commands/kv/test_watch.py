"""`kv watch` on a real server."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import js
from tests.support.run import Cli, Outcome
from tests.support.waiting import wait_for


def changes(outcome: Outcome) -> list[tuple[str, str, int]]:
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    return [(line["operation"], line["key"], line["revision"]) for line in lines]


@contextmanager
def written(url: str, *messages: tuple[str, bytes]) -> Iterator[None]:
    """Store messages in CONFIG as soon as somebody watches it."""

    def work() -> None:
        wait_for(lambda: js.info(url, "KV_CONFIG")["state"]["consumer_count"], "nobody watches")
        for subject, data in messages:
            js.publish(url, f"$KV.CONFIG.{subject}", data)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def test_newest_values_come_first(config: Cli, url: str) -> None:
    with written(url, ("user.1", b"Zed")):
        shown = config("kv watch CONFIG --count 4 --json", status=0)
    assert changes(shown) == [
        ("PUT", "user.1", 2),
        ("DELETE", "user.2", 4),
        ("PUT", "logo", 5),
        ("PUT", "user.1", 6),
    ]


def test_without_deletes(config: Cli, url: str) -> None:
    with written(url, ("user.2", b"back")):
        shown = config("kv watch CONFIG --no-deletes --count 3 --json", status=0)
    assert changes(shown) == [("PUT", "user.1", 2), ("PUT", "logo", 5), ("PUT", "user.2", 6)]


def test_history_and_revisions(config: Cli) -> None:
    shown = config("kv watch CONFIG --history --count 5 --json", status=0)
    assert [revision for _, _, revision in changes(shown)] == [1, 2, 3, 4, 5]
    shown = config("kv watch CONFIG 'user.*' --revision 2 --count 3 --json", status=0)
    assert [revision for _, _, revision in changes(shown)] == [2, 3, 4]


def test_updates_only(config: Cli, url: str) -> None:
    for flag in ("--updates", "--updates-only"):
        with written(url, ("logo", b"x"), ("user.7", b"\x1b[2J new")):
            shown = config(f"kv watch CONFIG 'user.>' {flag} --count 1", tty=True, status=0).out
        assert "PUT CONFIG > user.7: \\x1b[2J new\n" in shown
        assert "logo" not in shown


def test_starts_exclude_each_other(config: Cli) -> None:
    assert (
        "--history and --updates cannot be used together"
        in config("kv watch CONFIG --history --updates", status=64).err
    )


def test_values_that_match(cli: Cli, url: str) -> None:
    """What has no value is left out, and the count is of what is shown."""
    js.bucket(url, "CONFIG", max_msgs_per_subject=5)
    for number in range(4):
        js.publish(url, f"$KV.CONFIG.o.{number}", json.dumps({"amount": number * 10}).encode())
    cli("kv put CONFIG o.0 text", status=0)
    cli("kv del CONFIG o.1 --force", status=0)
    with written(url, ("o.9", b'{"amount": 90}'), ("o.8", b'{"amount": 1}'), ("o.7", b'{"amount": 70}')):
        shown = cli(["kv", "watch", "CONFIG", "--match", "amount > 10", "--count", "4", "--json"], status=0)
    assert [(key, revision) for _, key, revision in changes(shown)] == [
        *(("o.2", 3), ("o.3", 4), ("o.9", 7), ("o.7", 9))
    ]
    past = cli(["kv", "history", "CONFIG", "o.*", "--match", "amount < 15 and sequence < 8", "--json"]).json
    assert [entry["key"] for entry in past] == ["o.0", "o.1"]
    rows = cli(["kv", "get", "CONFIG", "o.>", "--match", 'subject endsWith "9"', "--json"], status=0).json
    assert [row["key"] for row in rows] == ["o.9"]
    refused = cli(["kv", "get", "CONFIG", "o.2", "--match", "amount > 1"], status=64)
    assert "--match is for several keys" in refused.err
