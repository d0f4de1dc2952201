"""`events`: advisories, samples, connections."""

import json
from pathlib import Path

import pytest

from tests.support import js
from tests.support.connections import wait_for_subscribers
from tests.support.run import Cli
from tests.support.servers import HubLeaf, RealServer

ADVISORIES = ["$JS.EVENT.ADVISORY.>"]
SAMPLES = ["$JS.EVENT.METRIC.>"]
CONNECTIONS = ["$SYS.ACCOUNT.*.CONNECT", "$SYS.ACCOUNT.*.DISCONNECT", "$SYS.SERVER.*.CLIENT.AUTH.ERR"]


class Watching:
    """`jsctl events ...` in a process, listening."""

    def __init__(self, cli: Cli, *args: str, wait_for: str = "Listening") -> None:
        self.process = cli.start(["events", *args])
        assert self.process.stderr
        for _ in range(wait_for.count("Listening")):
            assert "Listening" in self.process.stderr.readline()

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def lines(self) -> str:
        return self.process.communicate(timeout=60)[0]


def sampled(url: str, cli: Cli) -> None:
    """A stream, and a consumer whose one message is acknowledged."""
    js.stream(url, "EV", "ev")
    config = {"durable_name": "C", "ack_policy": "explicit", "sample_freq": "100"}
    js.ask(url, "CONSUMER.CREATE.EV.C", {"stream_name": "EV", "config": config})
    js.publish(url, "ev")
    cli("sub --stream EV --durable C -T", status=0)


def test_jetstream_events_by_default(cli: Cli, url: str) -> None:
    with Watching(
        cli, "--count", "4", "--filter", "stream_action|consumer_action|consumer_ack", "--short"
    ) as w:
        wait_for_subscribers(url, *ADVISORIES, *SAMPLES)
        sampled(url, cli)
        js.ask(url, "STREAM.DELETE.EV")
        result = w.lines()
    assert "[Stream Action] stream EV create" in result
    assert "[Consumer Action] consumer EV > C create" in result
    assert "[Consumer Acknowledgement] EV > C message 1 acknowledged after " in result
    assert "s, deliveries: 1" in result  # a duration, no bare nanoseconds
    assert w.process.returncode == 0


def test_extended(cli: Cli, url: str) -> None:
    with Watching(cli, "--count", "1", "--js-metric", "--no-srv-advisory") as w:
        wait_for_subscribers(url, *SAMPLES)
        sampled(url, cli)
        result = w.lines()
    assert "Consumer Acknowledgement\n\n" in result
    assert "Stream: EV\n" in result and "Consumer: C\n" in result and "Delay: " in result


def test_json_is_what_the_server_said(cli: Cli, url: str) -> None:
    with Watching(cli, "--count", "1", "--js-metric", "--no-srv-advisory", "--json", wait_for="") as w:
        wait_for_subscribers(url, *SAMPLES)
        sampled(url, cli)
        event = json.loads(w.lines())
    assert event["type"] == "io.nats.jetstream.metric.v1.consumer_ack" and event["stream"] == "EV"


def test_cloud_events(cli: Cli, url: str) -> None:
    with Watching(cli, "--count", "1", "--js-metric", "--no-srv-advisory", "--cloudevent", wait_for="") as w:
        wait_for_subscribers(url, *SAMPLES)
        sampled(url, cli)
        event = json.loads(w.lines())
    assert event["specversion"] == "1.0" and event["type"] == "io.nats.jetstream.metric.v1.consumer_ack"
    assert event["data"]["stream"] == "EV" and event["id"] and event["time"]


def test_connections_for_the_system_account(tmp_path: Path, system_url: str, url: str) -> None:
    system = Cli(tmp_path / "sys", system_url)
    with Watching(system, "--count", "2", "--filter", '"name":"one-of-mine"') as w:
        wait_for_subscribers(system_url, *CONNECTIONS)
        Cli(tmp_path / "c", url)("pub x y --connection-name one-of-mine", status=0)
        result = w.lines()
    assert "Client Connection" in result and "Client Disconnection" in result
    assert "Name: one-of-mine" in result and "Reason: Client Closed" in result
    with Watching(system, "--count", "1", "--filter", "auth.*wrong-one|wrong-one.*auth", "--short") as w:
        wait_for_subscribers(system_url, *CONNECTIONS)
        Cli(tmp_path / "c", url.replace("//t", "//nobody"))("pub x y --connection-name wrong-one", status=5)
        assert "[Client Authentication Error]" in w.lines()


def test_events_that_a_stream_keeps(cli: Cli, url: str) -> None:
    js.stream(url, "KEEP", "$JS.EVENT.METRIC.>")
    sampled(url, cli)
    outcome = cli("events --stream KEEP --count 1 --short", status=0)
    assert "[Consumer Acknowledgement] EV > C" in outcome.out
    assert "not found" in cli("events --stream NOPE", status=3).err


def test_a_domain(hub_cli: Cli, hub_leaf: HubLeaf) -> None:
    with Watching(
        hub_cli, "--js-domain", "leaf", "--count", "1", "--filter", "stream_action", "--short"
    ) as w:
        wait_for_subscribers(hub_leaf.url, *ADVISORIES)
        for domain in ("hub", "leaf"):
            hub_cli(f"stream add DOM --subjects {domain}.d --defaults --js-domain {domain}", status=0)
        assert "stream DOM create (domain leaf)" in w.lines()


def test_messages_that_are_not_events(cli: Cli, url: str) -> None:
    with Watching(cli, "--subjects", "my.events", "--count", "1") as w:
        wait_for_subscribers(url, "my.events")
        js.send(url, "my.events", b"\x1b[31mno event")
        js.send(url, "my.events", b'{"type": "x.y", "k": "\\u001b[31m"}')
        result = w.lines()
    assert "Event error" in result and "x.y" in result and "\x1b" not in result


@pytest.mark.parametrize(
    "line", ["events --filter '('", "events --stream S --all", "events --since 1h", "events --subjects 'a b'"]
)
def test_wrong_command_lines(line: str, cli: Cli) -> None:
    assert cli(line, status=64).err.count("\n") == 1


def test_a_count_that_is_not_reached_in_time(cli: Cli) -> None:
    for line in ("events --count 2 --wait 200ms", "events --count 2 --timeout 200ms --json"):
        ended = cli(line, status=3)
        assert ended.err.endswith("jsctl: 0 of 2 events; no more arrived in 200ms\n")
        assert ended.out in ("", "[]\n")
    assert cli("events --wait 200ms", status=0).out == ""


@pytest.mark.parametrize("line", ["events --js-advisory", "consumer events S C"])
def test_events_of_an_outage_are_reported_as_missed(tmp_path: Path, line: str) -> None:
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    server = RealServer(tmp_path / "server", config).start()
    try:
        js.stream(server.url, "S", "s")
        consumer = {"stream_name": "S", "config": {"name": "C", "durable_name": "C"}}
        js.ask(server.url, "CONSUMER.CREATE.S.C", consumer)
        with Cli(tmp_path / "config", server.url).terminal(line) as screen:
            screen.expect("Listening for events")
            screen.expect("\n")
            server.kill()
            screen.expect("connection lost")
            server.start()
            screen.expect("events published while the connection was down are missing")
    finally:
        server.stop()
