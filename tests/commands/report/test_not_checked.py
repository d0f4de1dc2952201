"""What a report could not look at is neither well nor wrong, in every form, for --fail-on and Prometheus."""

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.monitor.report import polling_order
from jsctl.monitor.report.places import Places
from jsctl.nats.connection import Connection
from tests.support import js
from tests.support.emulator import Watched
from tests.support.processes import suspend
from tests.support.rounds import write_rounds
from tests.support.run import Cli
from tests.support.servers import RealServer

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
accounts {
  A: { jetstream: enabled, users: [
    {user: all, password: all}
    {user: none, password: none, permissions: { publish: { deny: "$JS.API.CONSUMER.LIST.>" } }}
    {user: some, password: some, permissions: { publish: { deny: "$JS.API.CONSUMER.LIST.T" } }}
    {user: mute, password: mute, permissions: { subscribe: { deny: "_INBOX.>" } }}
    {user: blind, password: blind, permissions: { publish: { deny: "$JS.API.INFO" } }}
  ] }
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """With two streams that have a consumer each; some of its users may not see everything."""
    one = RealServer(tmp_path_factory.mktemp("rights"), CONFIG).start()
    try:
        for name in ("S", "T"):
            js.stream(one.url_for("all"), name, f"{name}.>")
            config = {"durable_name": "C", "ack_policy": "explicit"}
            js.ask(one.url_for("all"), f"CONSUMER.CREATE.{name}.C", {"stream_name": name, "config": config})
        yield one
    finally:
        one.stop()


@pytest.mark.parametrize(
    ("user", "part", "words"),
    [
        ("none", "consumers", "the consumers of 2 streams cannot be listed: not allowed"),
        ("some", "consumers", "the consumers of stream T cannot be listed: not allowed"),
        ("blind", "account", "the limits of the account cannot be read: not allowed"),
    ],
)
def test_what_may_not_be_seen(offline_cli: Cli, server: RealServer, user: str, part: str, words: str) -> None:
    place = f"-s {server.url_for(user)}"
    shown = offline_cli(f"report {place}", status=0).out
    assert "all well" not in shown and "not everything was checked" in shown
    assert f"not checked: {words}" in shown
    (report,) = offline_cli(f"report {place} --json", status=0).json["reports"]
    assert report["trouble"] == []
    ((only_part, why),) = [(gap["part"], gap["why"]) for gap in report["not_checked"]]
    assert only_part == part and why.startswith(words)
    assert report["as_of"]["streams"] and (report["as_of"][part] is None) == (user != "some")
    metrics = offline_cli(f"exporter {place} --textfile - --count 1", status=0).out
    values = {
        name: f'part="{name}"}} 1' in metrics and f'part="{name}"}} 0' not in metrics
        for name in ("streams", "consumers", "account")
    }
    assert [name for name, is_missing in values.items() if is_missing] == [part]


def test_a_condition_fails_on_it_unless_it_is_allowed(offline_cli: Cli, server: RealServer) -> None:
    line = ["report", "--fail-on", "problems > 0", "-s", server.url_for("none")]
    failed = offline_cli(line, status=1)
    assert "jsctl: --fail-on: not checked: " in failed.err and "--allow-unchecked" in failed.err
    offline_cli([*line, "--watch", "100ms", "--count", "2"], status=1)
    offline_cli([*line, "--allow-unchecked"], status=0)
    offline_cli([*line, "--no-consumers"], status=0)  # a flag says so
    whole = ["report", "--fail-on", "problems > 0", "-s", server.url_for("all")]
    assert "not checked" not in offline_cli(whole, status=0).err
    assert "needs --fail-on" in offline_cli("report --allow-unchecked", status=64).err


@pytest.mark.parametrize(
    "condition",
    [
        "cpu > 90",
        "problems > 0 and cpu > 90",
        "kind == 'server' and problems > 0",
    ],
)
@pytest.mark.parametrize("rounds", ["", "--watch 100ms --count 2"])
def test_a_condition_on_servers_fails_where_they_cannot_be_seen(
    cli: Cli, system_url: str, condition: str, rounds: str
) -> None:
    line = [*f"report {rounds} --fail-on".split(), condition]
    error = cli(line, status=1).err
    assert "--fail-on: not checked: " in error and "what servers do cannot be seen" in error
    cli([*line, "--allow-unchecked"], status=0)
    outcome = cli([*line, "--part", "servers", "--server", system_url], status=0)
    assert "not checked" not in outcome.out + outcome.err


def test_servers_may_be_one_of_two_alternatives(cli: Cli) -> None:
    condition = "kind == 'stream' and problems > 0 or kind == 'server' and problems > 0"
    assert "what servers do cannot be seen" in cli(["report", "--fail-on", condition], status=1).err


@pytest.mark.parametrize("condition", ["problems > 0", "kind != 'server' and problems > 0", "file_share > 1"])
def test_a_condition_on_what_a_login_sees_does_not_need_servers(cli: Cli, url: str, condition: str) -> None:
    js.stream(url, "S", "s")
    assert "not checked" not in cli(["report", "--fail-on", condition], status=0).err


def test_servers_that_cannot_be_seen_are_named(cli: Cli, system_url: str) -> None:
    (report,) = cli(["report", "--json", "--fail-on", "messages > 5 or cpu > 90"], status=1).json["reports"]
    assert [gap["part"] for gap in report["not_checked"]] == ["servers"]
    (report,) = cli(["report", "--json", "--fail-on", "problems > 0"], status=0).json["reports"]
    assert report["not_checked"] == []


@pytest.mark.parametrize("condition", ["file_used > 9e15", "max_streams > 9e15"])
def test_a_condition_on_accounts_fails_where_they_cannot_be_seen(
    offline_cli: Cli, server: RealServer, system_url: str, condition: str
) -> None:
    line = ["report", "--fail-on", condition, "--part", "accounts"]
    for place in (server.url_for("blind"), system_url):
        assert "--fail-on: not checked: " in offline_cli([*line, "-s", place], status=1).err
    assert "not checked" not in offline_cli([*line, "-s", server.url_for("all")], status=0).err


def test_what_a_flag_leaves_out_is_said(offline_cli: Cli, server: RealServer) -> None:
    place = f"-s {server.url_for('all')} --no-consumers"
    assert "all well, without consumers" in offline_cli(f"report {place}", status=0).out
    (report,) = offline_cli(f"report {place} --json", status=0).json["reports"]
    assert [gap["part"] for gap in report["not_checked"]] == ["consumers"]


@pytest.mark.parametrize(
    "condition",
    [
        "unprocessed > 5",
        "kind == 'consumer' and problems > 0",
        "messages > 9e9 or kind == 'consumer' and problems > 0",
    ],
)
@pytest.mark.parametrize("more", ["", "--watch 100ms --count 2", "--allow-unchecked"])
def test_a_condition_on_consumers_needs_them(cli: Cli, url: str, condition: str, more: str) -> None:
    line = ["report", "--no-consumers", *more.split(), "--fail-on"]
    assert "--fail-on is about consumers" in cli([*line, condition], status=64).err
    for other in ("problems > 0", "lag_messages > 5", "kind != 'consumer' and problems > 0"):
        cli([*line, other], status=0)


@pytest.mark.parametrize("condition", ["message_rate > 9e9", "messages > 9e9 or lag_rate > 9e9"])
def test_a_condition_on_a_rate_needs_two_rounds(cli: Cli, url: str, condition: str) -> None:
    js.stream(url, "S", "s")
    line = ["report", "--fail-on", condition]
    for single in ([], ["--count", "1"]):
        assert "_rate needs two rounds; add --count 2" in cli([*line, *single], status=64).err
    cli([*line, "--watch", "100ms", "--count", "2"], status=0)


def test_nothing_is_known_of_a_place_that_does_not_answer(offline_cli: Cli) -> None:
    (report,) = offline_cli("report -s nats://127.0.0.1:1 --json", status=4).json["reports"]
    assert [gap["part"] for gap in report["not_checked"]] == ["streams", "consumers", "account"]
    assert set(report["as_of"].values()) == {None}
    line = ["report", "-s", "nats://127.0.0.1:1", "--watch", "100ms", "--fail-on", "problems > 0", "--json"]
    assert "--fail-on: not checked" in offline_cli(line, status=1).err


def test_a_condition_fails_on_what_had_no_time_to_answer(offline_cli: Cli, tmp_path: Path) -> None:
    """It hangs, and the rounds end before its timeout."""
    hanging = RealServer(tmp_path, CONFIG).start()
    assert hanging.process
    suspend(hanging.process.pid)
    try:
        place = f"-s {hanging.url_for('all')} --watch 100ms --count 2"
        line = [*f"report {place} --json --fail-on".split(), "problems > 0"]
        assert "not checked" in (error := offline_cli(line, status=1).err) and "no answer yet" in error
        offline_cli([*line, "--allow-unchecked"], status=0)
    finally:
        hanging.process.send_signal(signal.SIGCONT)
        hanging.stop()


def test_the_screen_says_it(offline_cli: Cli, server: RealServer) -> None:
    watched = Watched(
        offline_cli.terminal(f"report --watch 200ms --part problems -s {server.url_for('none')}")
    )
    watched.until("not checked: the consumers of 2 streams cannot be listed")
    assert "nothing is wrong" not in watched.screen.text
    watched.press("q")
    assert watched.end() == 0


def test_doctor_says_it(offline_cli: Cli, server: RealServer) -> None:
    outcome = offline_cli(f"doctor -s {server.url_for('none')}", status=0)
    assert "Nothing is wrong" not in outcome.out
    assert "but not everything was checked" in outcome.out


@pytest.mark.parametrize("line", ["doctor", "report", "exporter --textfile - --count 1", "pub -J S.x hi"])
def test_a_denied_inbox_is_named_at_once(offline_cli: Cli, server: RealServer, line: str) -> None:
    began = time.monotonic()
    outcome = offline_cli(f"{line} -s {server.url_for('mute')} --timeout 60s")
    assert outcome.status in (1, 4, 5) and time.monotonic() - began < 30
    assert "not allowed to subscribe to _INBOX.>, where replies arrive" in outcome.out + outcome.err


async def _fill(url: str, streams: int) -> None:
    connection = await Connection.open(Settings(url=url))
    api, gate = Api(connection), asyncio.Semaphore(32)

    async def add(name: str) -> None:
        async with gate:
            config = {"name": name, "subjects": [name], "storage": "memory"}
            await api.call(f"STREAM.CREATE.{name}", config)
            for consumer in ("A", "B"):
                wanted = {"durable_name": consumer, "ack_policy": "explicit", "mem_storage": True}
                body = {"stream_name": name, "config": wanted}
                await api.call(f"CONSUMER.CREATE.{name}.{consumer}", body)

    await asyncio.gather(*(add(f"S{number:03}") for number in range(streams)))
    await connection.close()


def test_consumers_of_many_streams_are_looked_at(cli: Cli, url: str) -> None:
    """More than 100 streams with consumers, which used to be left out."""
    asyncio.run(_fill(url, 120))
    js.publish(url, "S007")
    outcome = cli(["report", "--json", "--fail-on", "problems > 0"], status=1)
    (report,) = outcome.json["reports"]
    assert len(report["consumers"]) == 240 and report["not_checked"] == []
    assert "consumer S007 > A" in outcome.err
    assert "all well" not in cli("report", status=0).out


def test_a_live_report_lists_consumers_in_turns(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at first; then some in each round, those asked longest ago first. What is not asked for is kept."""
    asyncio.run(_fill(url, 12))
    monkeypatch.setattr(polling_order, "MIN_PER_ROUND", 5)
    monkeypatch.setattr(polling_order, "PER_SECOND", 0)
    now = 1_000_000.0

    async def look() -> None:
        nonlocal now
        places = Places(
            [Settings(url=url)], pattern="", with_consumers=True, needs="screen", clock=lambda: now
        )
        [tracker] = places.trackers
        for number in range(4):
            if number == 1:
                await asyncio.to_thread(js.publish, url, "S011")
            [place] = [known async for known in places.one_round(10)][-1]
            assert place.at == now
            assert tracker.consumers is not None and len(tracker.consumers) == 24
            assert tracker.gaps == []
            pending = {line.stream for line in tracker.consumers if line.unprocessed}
            assert pending == ({"S011"} if number == 3 else set())
            assert tracker.consumers_at == 1_000_000 + max(0, 10 * (number - 2))
            now += 10
        await places.close()

    asyncio.run(look())


@pytest.mark.parametrize("place", ["url", "system_url"])
def test_a_place_that_no_longer_answers_says_when_it_did(
    cli: Cli, place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Also the system account, which has no streams."""
    address = request.getfixturevalue(place)
    cli(f"report --record {tmp_path / 'real'} --count 1 --server {address}", status=0)
    file = write_rounds(tmp_path / "real", tmp_path / "rounds", [lambda _: None, None], seconds=60)
    shown = cli(f"report --replay {file}").out
    assert "unreachable, as of 2027-01-15 08:00:00Z" in shown, shown
