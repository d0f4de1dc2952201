"""What a server is too old for is refused, and the version that it takes is named; the rest works there too.

Most of it runs where JSCTL_OLD_SERVER names nats-servers of 2.10 to 2.14, separated by colons.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.jetstream.api_levels import find_server_version
from jsctl.jetstream.consumer.config import CONSUMER, PRIORITY_FLAGS
from jsctl.jetstream.stream.config import STREAM
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

OLD = [path for path in os.environ.get("JSCTL_OLD_SERVER", "").split(os.pathsep) if path]

STREAM_FLAGS = {
    "allow-msg-ttl": (1, "--allow-msg-ttl"),
    "subject-del-markers-ttl": (1, "--subject-del-markers-ttl 10s --allow-msg-ttl --allow-rollup"),
    "allow-batch": (2, "--allow-batch"),
    "allow-counter": (2, "--allow-counter"),
    "allow-schedules": (2, "--allow-schedules"),
    "persist-mode": (2, "--persist-mode async"),
    "allow-fast": (4, "--allow-fast"),
}
"""API level and line of each flag of `stream add` that not every server knows."""

CONSUMER_FLAGS = {
    "pinned-ttl": (1, "--pinned-groups a --pinned-ttl 10s"),
    "pinned-groups": (1, "--pinned-groups a"),
    "overflow-groups": (1, "--overflow-groups a"),
    "prioritized-groups": (2, "--prioritized-groups a"),
    "pause": (1, "--pause 1h"),
    "ack": (4, "--ack flow_control --target d --flow-control --heartbeat 1s --max-pending 10"),
}

_MIRROR = '{"name":"S","consumer":{"name":"C","deliver_subject":"d"}}'
VERBS = {
    "stream view S --since 1h": (1, "--since"),
    "stream cluster balance": (1, "cluster balance"),
    f"stream add T --mirror '{_MIRROR}' --defaults": (4, "a durable consumer of a mirror or source"),
    "consumer pause S OLD 1h --force": (1, "consumer pause"),
    "consumer reset S OLD --force": (4, "consumer reset"),
    "consumer cluster balance S": (1, "cluster balance"),
}


def test_every_flag_with_a_level_is_tried_here() -> None:
    streams = {field.flag: field.level for field in STREAM.by_flag.values() if field.level}
    assert {flag: level for flag, (level, _) in STREAM_FLAGS.items()} == streams
    consumers = {field.flag for field in CONSUMER.by_flag.values() if field.level} | {*PRIORITY_FLAGS}
    assert {*CONSUMER_FLAGS} == consumers | {"pause", "ack"}


@pytest.mark.parametrize("flag", STREAM_FLAGS)
def test_the_server_says_the_same_level(cli: Cli, flag: str) -> None:
    level, words = STREAM_FLAGS[flag]
    result = cli(f"stream add T --subjects t {words} --defaults --json", status=0).json
    assert result["config"]["metadata"]["_nats.req.level"] == str(level)


@pytest.fixture(
    params=[*map(pytest.param, OLD)] or [pytest.param("", marks=pytest.mark.skip(reason="JSCTL_OLD_SERVER"))]
)
def old_cli(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    monkeypatch.setattr("tests.support.servers.binary", lambda: request.param)
    server = RealServer(
        tmp_path / "old", 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    ).start()
    try:
        js.stream(server.url, "S", "s.>", allow_direct=True)
        js.publish_all(server.url, ((f"s.{n % 2}", b"%d" % n) for n in range(1, 101)))
        yield Cli(tmp_path / "config", server.url)
    finally:
        server.stop()


def level_of(cli: Cli) -> int:
    """The server's own; 0 where it knows of none."""
    return int(cli("account info --json", status=0).json["jetstream"]["api"].get("level", 0))


def refused(cli: Cli, line: str, level: int, what: str) -> None:
    outcome = cli(line, status=64)
    assert outcome.out == ""
    assert what in outcome.err
    assert f" needs nats-server {find_server_version(level)} (API level {level})" in outcome.err


@pytest.mark.slow
def test_flags_of_streams(old_cli: Cli) -> None:
    have = level_of(old_cli)
    for flag, (level, words) in STREAM_FLAGS.items():
        line = f"stream add T --subjects t {words} --defaults --json"
        if level > have:
            refused(old_cli, line, level, f"--{flag}")
            refused(old_cli, line.replace("add T", "copy S T").replace(" --defaults", ""), level, f"--{flag}")
            assert old_cli("stream ls --json", status=0).json == ["S"]
            continue
        live = old_cli(line, status=0).json["config"]
        old_cli("stream rm T --force", status=0)
        key = STREAM.by_flag[flag].path[0]
        assert live[key], f"{flag} is lost"


@pytest.mark.slow
def test_flags_that_an_old_server_lacks_create_no_consumer(old_cli: Cli) -> None:
    have = level_of(old_cli)
    keys = {"pause": "pause_until", "ack": "ack_policy", "pinned-ttl": "priority_timeout"}
    for flag, (level, words) in CONSUMER_FLAGS.items():
        line = f"consumer add S C {words} --defaults --json"
        if level > have:
            refused(old_cli, line, level, f"--{flag}")
            assert old_cli("consumer ls S --json", status=0).json == []
            continue
        live = old_cli(line, status=0).json["config"]
        old_cli("consumer rm S C --force", status=0)
        assert live[keys.get(flag, "priority_groups")], f"{flag} is lost"


@pytest.mark.slow
def test_restore_under_another_name(old_cli: Cli, tmp_path: Path) -> None:
    old_cli(f"backup stream S {tmp_path / 'backup'}", status=0)
    assert level_of(old_cli) < 5, "not an old server"
    refused(
        old_cli, f"backup restore stream {tmp_path / 'backup'} --name T", 5, "a restore under another name"
    )
    line = "stream copy S T --data --subjects t"
    refused(old_cli, line, 5, "a copy of messages under another name")
    assert old_cli("stream ls --json", status=0).json == ["S"]
    old_cli("stream rm S --force", status=0)
    old_cli(f"backup restore stream {tmp_path / 'backup'}", status=0)


@pytest.mark.slow
def test_restore(old_cli: Cli, tmp_path: Path) -> None:
    if level_of(old_cli) >= 1:
        pytest.skip("the server knows the setting")
    folder = tmp_path / "backup"
    old_cli(f"backup stream S {folder}", status=0)
    (tmp_path / "more.json").write_text('{"allow_msg_ttl": true}')
    line = f"backup restore stream T {folder} --config {tmp_path / 'more.json'}"
    refused(old_cli, line, 1, "--allow-msg-ttl")
    assert old_cli("stream ls --json", status=0).json == ["S"]


@pytest.mark.slow
def test_verbs(old_cli: Cli) -> None:
    have = level_of(old_cli)
    old_cli("consumer add S OLD --pull --defaults", status=0)
    newer = {line: verb for line, verb in VERBS.items() if verb[0] > have}
    assert newer, "not an old server"
    for line, (level, what) in newer.items():
        refused(old_cli, line, level, what)


@pytest.mark.slow
def test_edits(old_cli: Cli) -> None:
    if level_of(old_cli) >= 1:
        pytest.skip("the server knows the setting")
    before = old_cli("stream info S --json", status=0).json["config"]
    refused(old_cli, "stream edit S --allow-msg-ttl --force", 1, "--allow-msg-ttl")
    assert old_cli("stream info S --json", status=0).json["config"] == before


@pytest.mark.slow
def test_messages_without_batches(old_cli: Cli) -> None:
    assert len(old_cli("stream view S --json", status=0).json) == 100
    assert old_cli("stream view S --match 'text matches `^5.$`' --raw", status=0).out.split() == [
        str(n) for n in range(50, 60)
    ]
    assert len(old_cli("stream view S --subject s.1 --json", status=0).json) == 50
    dry = old_cli("stream purge S --subject s.1 --seq 51 --dry-run --json", status=0).json
    assert dry["streams"][0]["messages"] == 25
    old_cli("stream purge S --subject s.1 --seq 51 --force", status=0)
    assert len(old_cli("stream gaps S --json", status=0).json) == 24
