"""Streams and consumers whose names hold control characters: any client may make them."""

import json

import pytest

from tests.support.js import ask, publish, stream
from tests.support.run import Cli

NAME = "S\x1b[2J\x07\x9b1m\u202eX"
SHOWN = "S\\x1b[2J\\x07\\x9b1m\\u202eX"
CONSUMER, SHOWN_CONSUMER = "C\x1b]0;x\x07", "C\\x1b]0;x\\x07"


@pytest.fixture
def strange(cli: Cli, url: str) -> str:
    stream(url, NAME, "s.>")
    publish(url, "s.a")
    config = {"durable_name": CONSUMER, "ack_policy": "explicit"}
    ask(url, f"CONSUMER.DURABLE.CREATE.{NAME}.{CONSUMER}", {"stream_name": NAME, "config": config})
    return url


@pytest.mark.parametrize("name", [NAME, SHOWN])
def test_they_can_be_shown_and_removed(cli: Cli, strange: str, name: str) -> None:
    for line in ("stream ls", "stream report", "stream ls --json", "consumer report"):
        for tty in (True, False):
            args = [*line.split(), *([name] if line.startswith("consumer") else [])]
            shown = cli(args, tty=tty, status=0)
            assert SHOWN.split("[")[0] in shown.out or json.loads(shown.out) == [NAME]
            assert not set("\x07\x9b\u202e") & set(shown.out), line
    assert SHOWN in cli(["stream", "info", name], status=0).out
    consumer = CONSUMER if name == NAME else SHOWN_CONSUMER
    assert SHOWN_CONSUMER in cli(["consumer", "ls", name], status=0).out
    assert SHOWN_CONSUMER in cli(["consumer", "info", name, consumer], status=0).out
    assert "s.a" in cli(["stream", "view", name], status=0).out
    cli(["consumer", "rm", name, consumer, "--force"], status=0)
    cli(["stream", "purge", name, "--force"], status=0)
    cli(["stream", "rm", name, "--force"], status=0)
    assert cli("stream ls --json", status=0).json == []


def test_none_is_made(cli: Cli, strange: str) -> None:
    refused = cli(["stream", "add", "A\x1bB", "--subjects", "x", "--defaults"], status=64)
    assert "not a valid stream name" in refused.err
    refused = cli(["stream", "copy", NAME, "A\x1bB", "--subjects", "x"], status=64)
    assert refused.err.count("\n") == 1
    refused = cli(["consumer", "add", NAME, "A\x1bB", "--pull", "--defaults"], status=64)
    assert refused.err.count("\n") == 1
