"""Reads with an end, from a server whose replies stop while the connection lives."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.base.units import SECOND
from jsctl.jetstream.message import feed
from tests.support import js
from tests.support.hostile import Middleman, middleman
from tests.support.run import Cli
from tests.support.servers import RealServer

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
"""

FIRST = (
    "kv ls B -v",
    "sub --stream S --all --count 5000",
    "stream view S",
    "consumer next S D --count 5000",
    "object get O big --output -",
    "counter watch C.> --count 5000",
)
"""One line of each way to read; the others run with --long."""

LINES = (
    "kv ls B",
    "kv ls B -v --display-value",
    "kv history B k1",
    "kv get B >",
    "kv export B",
    "kv export B --latest",
    "kv diff B C",
    "kv compact B -f",
    "kv rm B > --dry-run",
    "counter ls",
    "counter ls C.>",
    "sub --stream S --all --count 5000 --direct",
    "sub --stream S --last-per-subject --count 5000 --direct",
    "sub --stream S --new --count 5",
    "stream view S --raw",
    "stream gaps S",
    "stream subjects S",
    "stream get S 1 --raw",
    "consumer sub S D --count 5000",
    "object ls O",
    "object get O big --output {folder}/big --force",
    "kv watch B --count 5000",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    folder = tmp_path_factory.mktemp("silent")
    server = RealServer(folder, CONFIG).start()
    cli = Cli(folder / "config", server.url)
    js.stream(server.url, "S", "S.>", allow_direct=True)
    js.publish_all(server.url, ((f"S.{number % 50}", b"x" * 500) for number in range(3000)))
    js.ask(
        server.url,
        "CONSUMER.CREATE.S.D",
        {"stream_name": "S", "config": {"durable_name": "D", "ack_policy": "explicit"}},
    )
    cli("kv add B --history 5", status=0)
    cli("kv add C --history 5", status=0)
    js.publish_all(server.url, ((f"$KV.B.k{number % 200}", b"%d" % number) for number in range(600)))
    js.publish_framed(server.url, "$KV.B.k1", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", b"")
    js.stream(server.url, "COUNT", "C.>", allow_direct=True, allow_msg_counter=True)
    for number in range(3):
        cli(f"counter incr C.{number} 1", status=0)
    cli("object add O", status=0)
    (folder / "big").write_bytes(bytes(3 << 20))
    cli(f"object put O {folder}/big --name big", status=0)
    yield server
    server.stop()


@pytest.fixture
def silent(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Middleman]:
    monkeypatch.setattr(feed, "_HEARTBEAT", SECOND // 6)
    monkeypatch.setattr(feed, "BUDGET_SECONDS", 1.0)
    monkeypatch.setattr(feed, "_LEAVE_SECONDS", 0.3)
    with middleman(server.port) as man:
        yield man


def silence_after(man: Middleman, count: int) -> None:
    """Let this many messages through, and then none on any connection."""
    left = [count]
    lock = threading.Lock()

    def change(subject: bytes, payload: bytes) -> bytes | None:
        with lock:
            left[0] -= 1
            return payload if left[0] >= 0 else None

    man.change = change


def list_temporary_consumers(url: str) -> list[str]:
    names = js.ask(url, "STREAM.NAMES")["streams"]
    consumers = [name for stream in names for name in js.ask(url, f"CONSUMER.NAMES.{stream}")["consumers"]]
    return [name for name in consumers if name != "D"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "count"),
    [
        *((line, 3) for line in FIRST),
        *(pytest.param(line, 20, marks=pytest.mark.long) for line in FIRST),
        *(pytest.param(line, count, marks=pytest.mark.long) for line in LINES for count in (3, 20)),
    ],
)
def test_each_read_ends(line: str, count: int, silent: Middleman, server: RealServer, tmp_path: Path) -> None:
    silence_after(silent, count)
    cli = Cli(tmp_path / "config", silent.url)
    begin = time.monotonic()
    # With --count, --timeout is how long to wait for the next message; without it, the silence ends the read.
    waits = "--count" in line and not line.startswith("consumer next")
    timeout = "" if waits and count == 20 else "--timeout 1s"
    outcome = cli(f"{line.format(folder=tmp_path)} {timeout}")
    assert time.monotonic() - begin < 40, outcome
    troubles = [
        one for one in outcome.err.splitlines() if "reading again" in one or "continuing after" in one
    ]
    assert len(troubles) <= 1, outcome
    assert list_temporary_consumers(server.url) == []
    if outcome.status == 0:  # everything had arrived before
        assert outcome.out == Cli(tmp_path / "config", server.url)(line, status=0).out
    elif line.startswith("consumer next") and not outcome.out:  # it waits as long as it was told to
        assert "no message for S > D in 1s" in outcome.err
    elif waits and timeout:
        assert outcome.status == 3 and " of 5" in outcome.err and "no more arrived in 1s" in outcome.err
    else:
        assert outcome.status == 4, outcome
        assert outcome.err.count("jsctl: error: ") == 1


@pytest.mark.long
def test_the_line_says_what_is_wrong(silent: Middleman, tmp_path: Path) -> None:
    silence_after(silent, 20)
    outcome = Cli(tmp_path / "config", silent.url)("sub --stream S --all --count 5000 --raw")
    notice, error = [one for one in outcome.err.splitlines() if one.startswith("jsctl: ")]
    assert notice.startswith("jsctl: the server sent no heartbeats; continuing after sequence ")
    assert "nothing came from stream S for " in error and "although the connection lives" in error
