"""What a server before API levels (2.10) cannot do is refused; the rest works there too.

Runs where JSCTL_OLD_SERVER names such a nats-server.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

OLD = os.environ.get("JSCTL_OLD_SERVER", "")
pytestmark = pytest.mark.skipif(not OLD, reason="JSCTL_OLD_SERVER names no nats-server 2.10")


@pytest.fixture
def old_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    monkeypatch.setattr("tests.support.servers.binary", lambda: OLD)
    server = RealServer(
        tmp_path / "old", 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    ).start()
    try:
        js.stream(server.url, "S", "s.>", allow_direct=True)
        js.publish_all(server.url, ((f"s.{n % 2}", b"%d" % n) for n in range(1, 101)))
        yield Cli(tmp_path / "config", server.url)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("stream view S --since 1h", "--since"),
        ("stream cluster balance", "cluster balance"),
        ("stream add T --subjects t --allow-msg-ttl --defaults", "--allow-msg-ttl"),
    ],
)
def test_what_needs_a_newer_server(old_cli: Cli, line: str, flag: str) -> None:
    outcome = old_cli(line, status=64)
    assert outcome.out == ""
    assert f"{flag} needs nats-server 2.11 (API level 1)" in outcome.err


def test_messages_without_batches(old_cli: Cli) -> None:
    assert len(old_cli("stream view S --json", status=0).json) == 100
    assert old_cli("stream view S --match '^5.$' --raw", status=0).out.split() == [
        str(n) for n in range(50, 60)
    ]
    assert len(old_cli("stream view S --subject s.1 --json", status=0).json) == 50
    dry = old_cli("stream purge S --subject s.1 --seq 51 --dry-run --json", status=0).json
    assert dry["streams"][0]["messages"] == 25
    old_cli("stream purge S --subject s.1 --seq 51 --force", status=0)
    assert len(old_cli("stream gaps S --json", status=0).json) == 24
