"""`sub --direct` where not the stream's leader answers: mirrors, replicas that lag or miss messages."""

import json
import os
import signal

import pytest

from tests.support import js
from tests.support.lagging import Lagging
from tests.support.processes import suspend
from tests.support.run import Cli
from tests.support.servers import Cluster
from tests.support.waiting import wait_for


def fill(url: str, count: int) -> None:
    """The stream S, which allows direct gets, with messages on S.0, S.1 and S.2."""
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish_all(url, ((f"S.{number % 3}", b"%d" % number) for number in range(1, count + 1)))


def sequences(cli: Cli, flags: str) -> list[int]:
    out = cli(f"sub --stream S --direct -T --json {flags}", status=0).out
    return [json.loads(line)["sequence"] for line in out.splitlines()]


def test_messages_of_a_mirror_are_not_shown(cli: Cli, url: str) -> None:
    """It answers for its origin, also with what was deleted there."""
    fill(url, 500)
    js.stream(url, "COPY", mirror={"name": "S"}, mirror_direct=True, allow_direct=True)
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 500, "the mirror is late")
    for sequence in range(100, 200):
        js.ask(url, "STREAM.MSG.DELETE.S", {"seq": sequence, "no_erase": True})
    assert js.ask(url, "STREAM.INFO.COPY")["state"]["messages"] == 500
    for _ in range(8):  # either stream may answer
        assert sequences(cli, "--all") == [*range(1, 100), *range(200, 501)]
        assert sequences(cli, "--last-per-subject") == [498, 499, 500]


def test_a_mirror_is_read_itself(cli: Cli, url: str) -> None:
    fill(url, 100)
    js.stream(url, "COPY", mirror={"name": "S"}, mirror_direct=True, allow_direct=True)
    wait_for(lambda: js.info(url, "COPY")["state"]["messages"] == 100, "the mirror is late")
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 50, "no_erase": True})
    out = cli("sub --stream COPY --direct -T --json --all", status=0).out
    assert [json.loads(line)["sequence"] for line in out.splitlines()] == list(range(1, 101))


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ("--all", list(range(1, 2001))),
        ("--start-sequence 1500", list(range(1500, 2001))),
        ("--since 1h", list(range(1, 2001))),
        ("--last", [2000]),
        ("S.1 --all", [n for n in range(1, 2001) if n % 3 == 1]),
        ("S.1 S.2 --all", [n for n in range(1, 2001) if n % 3]),
    ],
)
def test_a_replica_that_lags_leaves_nothing_out(cli: Cli, url: str, flags: str, wanted: list[int]) -> None:
    fill(url, 2000)
    with Lagging(url) as lagging:
        for _ in range(8):
            assert sequences(cli, f"{flags} --js-api-prefix LAG") == wanted
            if lagging.short > 3:
                break
        assert lagging.short


def test_a_replica_that_lacks_messages_is_not_trusted(cli: Cli, url: str) -> None:
    fill(url, 300)
    for sequence in (100, 101, 250):
        js.ask(url, "STREAM.MSG.DELETE.S", {"seq": sequence, "no_erase": True})
    with Lagging(url, hole=True) as lagging:
        for _ in range(4):
            wanted = [n for n in range(1, 301) if n not in (100, 101, 250)]
            assert sequences(cli, "--all --js-api-prefix LAG") == wanted
        assert lagging.short


def test_what_follows_the_last_messages_a_replica_knows(cli: Cli, url: str) -> None:
    """One that lags knows older messages as the last ones; those after them follow."""
    fill(url, 9)
    with Lagging(url) as lagging:
        seen = set()
        for _ in range(20):
            shown = sequences(cli, "--last-per-subject --js-api-prefix LAG")
            assert shown in ([7, 8, 9], list(range(1, 10)))
            seen.add(len(shown))
        assert lagging.short and seen == {3, 9}


@pytest.mark.cluster
def test_a_follower_that_stood_still(cluster: Cluster, offline_cli: Cli) -> None:
    """It is asked as soon as it runs again, while it has only part of what the others took."""
    config = {"name": "S", "subjects": ["S.>"], "num_replicas": 3, "allow_direct": True, "storage": "file"}
    js.ask_patiently(cluster.url, "STREAM.CREATE.S", config)
    js.publish(cluster.url, "S.a", b"x", 100)
    for _ in range(3):
        info = js.ask_patiently(cluster.url, "STREAM.INFO.S")
        url = cluster.servers[info["cluster"]["leader"]].url_for("acc")
        server = cluster.servers[info["cluster"]["replicas"][0]["name"]]
        assert server.process is not None
        last = info["state"]["last_seq"]
        suspend(server.process.pid)
        try:
            js.publish(url, "S.a", b"y" * 1000, 10_000)
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        flags = f"--start-sequence {last + 1} --server {server.url_for('acc')}"
        assert sequences(offline_cli, flags) == list(range(last + 1, last + 10_001))
