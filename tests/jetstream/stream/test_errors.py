"""What went wrong, told apart: no JetStream, a wrong domain, missing rights, silence, the server's errors."""

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.base.units import MS
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, RequestTimeout
from jsctl.jetstream.api import Api
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.processes import suspend
from tests.support.run import Cli, Outcome
from tests.support.servers import Cluster, RealServer
from tests.support.subscribing import subscribing

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  NONE: { users: [{user: none, password: none}] }
  FULL: { jetstream: { max_streams: 2 }, users: [
    {user: full, password: full}
    {user: reader, password: reader, permissions: { publish: [
      "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.*",
      "$JS.API.STREAM.MSG.GET.*" ] }}
    {user: nothing, password: nothing, permissions: { publish: { deny: "$JS.>" } }}
    {user: maker, password: maker, permissions: { publish: { deny: "$JS.API.STREAM.INFO.>" } }}
  ] }
}
"""
OFF = 'listen: "127.0.0.1:{port}"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    one = RealServer(tmp_path_factory.mktemp("rights"), CONFIG).start()
    try:
        url = one.url_for("full")
        js.stream(url, "S", "s.>", allow_direct=True)
        js.publish(url, "s.a", b"one", count=3)
        yield one
    finally:
        one.stop()


def fails(cli: Cli, line: str, status: int) -> str:
    """The one line of the failure; nothing is on stdout."""
    outcome: Outcome = cli(line, status=status)
    assert outcome.out == ""
    lines = [text for text in outcome.err.splitlines() if text.strip() and "Obtaining" not in text]
    assert len(lines) == 1, outcome.err
    return lines[0].removeprefix("jsctl: error: ")


LINES = [
    "stream find",
    "stream state S",
    "stream subjects S",
    "stream purge S --force",
    "stream rmm S 1 --force",
    "stream view S",
    "stream get S 1",
    "stream seal S --force",
    "stream gaps S",
    "stream graph S --count 1",
    "stream cluster step-down S",
    "stream cluster balance",
    "stream cluster peer-remove S n1 --force",
]


@pytest.mark.parametrize("line", LINES)
def test_an_account_without_jetstream(offline_cli: Cli, server: RealServer, line: str) -> None:
    err = fails(offline_cli, f"{line} --server {server.url_for('none')}", 4)
    assert err.startswith("JetStream not enabled for account (10039); log in as a user of an account with")


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_domain(offline_cli: Cli, server: RealServer, line: str) -> None:
    err = fails(offline_cli, f"{line} --js-domain nope --server {server.url_for('full')}", 4)
    assert err.startswith("no JetStream answers on $JS.nope.API; check the domain or prefix")


@pytest.mark.parametrize("line", LINES)
def test_a_user_without_rights(offline_cli: Cli, server: RealServer, line: str) -> None:
    err = fails(offline_cli, f"{line} --server {server.url_for('nothing')}", 5)
    assert err.startswith("not allowed to publish to $JS.API.")


@pytest.mark.parametrize("line", LINES)
def test_a_silent_domain(offline_cli: Cli, server: RealServer, line: str) -> None:
    with subscribing(server.url_for("full"), "$JS.slow.API.>"):
        err = fails(
            offline_cli, f"{line} --js-domain slow --timeout 300ms --server {server.url_for('full')}", 4
        )
    assert err.startswith("no answer from JetStream on $JS.slow.API.")
    offered = re.search(r"; jsctl doctor .*shows whether the stream has a leader; ", err)
    assert bool(offered) == ("STREAM.LIST;" not in err), err


@pytest.mark.parametrize(
    ("line", "api"),
    [
        ("stream purge S --force", "STREAM.PURGE.S"),
        ("stream rmm S 1 --force", "STREAM.MSG.DELETE.S"),
        ("stream seal S --force", "STREAM.UPDATE.S"),
        ("stream rm S --force", "STREAM.DELETE.S"),
    ],
)
def test_a_user_who_may_only_read(offline_cli: Cli, server: RealServer, line: str, api: str) -> None:
    err = fails(offline_cli, f"{line} --server {server.url_for('reader')}", 5)
    assert err.startswith(f"not allowed to publish to $JS.API.{api}")
    assert js.info(server.url_for("full"), "S")["state"]["messages"] == 3


def test_a_user_who_may_create_but_not_look_up(offline_cli: Cli, server: RealServer) -> None:
    url = server.url_for("maker")
    try:
        outcome = offline_cli(f"stream add NEW --subjects new --defaults --server {url}", status=0)
        assert outcome.out.startswith("Stream NEW was created\n")
    finally:
        js.ask(server.url_for("full"), "STREAM.DELETE.NEW")


@pytest.mark.parametrize(("name", "there"), [("S", True), ("NOPE", False)])
def test_only_what_is_not_found_does_not_exist(server: RealServer, name: str, there: bool) -> None:
    async def exists(user: str, domain: str = "") -> bool:
        connection = await Connection.open(Settings(url=server.url_for(user), timeout=300 * MS))
        try:
            return await streams.fetch_info_or_none(Api(connection, domain=domain), name) is not None
        finally:
            await connection.close()

    assert asyncio.run(exists("full")) is there
    with pytest.raises(Denied):
        asyncio.run(exists("nothing"))
    with subscribing(server.url_for("full"), "$JS.slow.API.>"), pytest.raises(RequestTimeout):
        asyncio.run(exists("full", "slow"))


def test_reading_needs_no_direct_get_and_no_consumer(offline_cli: Cli, server: RealServer) -> None:
    url = server.url_for("reader")
    for line in (
        "stream view S --match 'text == \"one\"' --raw",
        "stream view S --raw --subject s.a",
        "stream view S --raw",
    ):
        outcome = offline_cli(f"{line} --server {url}", status=0)
        assert (outcome.out, outcome.err) == ("one\n" * 3, ""), line
    dry = offline_cli(f"stream purge S --subject s.a --seq 3 --dry-run --server {url}", status=0).out
    assert "] Would purge Stream S: 2 messages, " in dry


def test_a_server_without_jetstream(offline_cli: Cli, tmp_path: Path) -> None:
    off = RealServer(tmp_path, OFF).start()
    try:
        line = fails(offline_cli, f"stream state S --server {off.url}", 4)
        assert line.startswith("JetStream is not enabled here")
    finally:
        off.stop()


def test_the_servers_own_errors(offline_cli: Cli, server: RealServer) -> None:
    url = server.url_for("full")
    assert fails(offline_cli, f"stream state NOPE --server {url}", 3).startswith(
        "stream NOPE not found (10059); jsctl stream ls"
    )
    js.stream(url, "SAFE", "safe", deny_purge=True, deny_delete=True)
    js.publish(url, "safe")
    try:
        purge = fails(offline_cli, f"stream purge SAFE --force --server {url}", 1)
        assert purge.startswith("stream purge not permitted (10110); jsctl stream info ")
        assert purge.endswith(" shows whether purges are allowed")
        remove = fails(offline_cli, f"stream rmm SAFE 1 --force --server {url}", 1)
        assert remove.startswith("message delete not permitted (10057); jsctl stream info ")
        full = fails(offline_cli, f"stream add MORE --subjects more --defaults --server {url}", 1)
        assert "(10027)" in full
    finally:
        js.ask(url, "STREAM.DELETE.SAFE")


def test_a_server_that_hangs(offline_cli: Cli, tmp_path: Path) -> None:
    one = RealServer(tmp_path, 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n').start()
    try:
        assert one.process
        suspend(one.process.pid)
        line = fails(offline_cli, f"stream state S --timeout 500ms --server {one.url}", 4)
        assert "in 500ms" in line or "time" in line
    finally:
        assert one.process
        os.kill(one.process.pid, signal.SIGCONT)
        one.stop()


@pytest.mark.cluster
def test_a_cluster_without_a_majority(offline_cli: Cli, tmp_path: Path) -> None:
    three = Cluster(tmp_path / "three")
    try:
        three.start()
        js.stream(three.url, "S", "s", num_replicas=3)
        for name in ("n1", "n2"):
            three.servers[name].kill()
        url = three.servers["n3"].url_for("acc")
        # Until the survivor notices, requests are not answered; then it says that there is no leader.
        line = fails(offline_cli, f"stream add T --subjects t --defaults --timeout 1s --server {url}", 4)
        assert "no answer from JetStream" in line or "unavailable" in line
    finally:
        three.stop()
