"""What the documents do with `pub`."""

import time

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def stream(cli: Cli, url: str) -> Cli:
    """With a stream S on s.>."""
    js.stream(url, "S", "s.>")
    return cli


def stored(url: str, seq: int) -> str:
    """The body of a message, in base64."""
    return str(js.ask(url, "STREAM.MSG.GET.S", {"seq": seq})["message"]["data"])


def test_a_message(stream: Cli, url: str) -> None:
    told = stream('pub s.a "hello world"', status=0)
    assert told.out == "" and 'Published 11 bytes to "s.a"' in told.err
    assert stored(url, 1) == "aGVsbG8gd29ybGQ="


def test_stdin(stream: Cli, url: str) -> None:
    stream("pub s.a", stdin="hello world", status=0)
    assert stored(url, 1) == "aGVsbG8gd29ybGQ="


def test_many(stream: Cli) -> None:
    assert "50,000 messages" in stream("pub s.a hello --count 50000", status=0).out
    deadline = time.monotonic() + 10
    while stream("stream info S --json", status=0).json["state"]["messages"] < 50_000:
        assert time.monotonic() < deadline


def test_no_stream_takes_it(cli: Cli) -> None:
    failed = cli("pub nobody x -J", status=4)
    assert "no stream" in failed.err and failed.err.count("\n") == 1


def test_a_stream_that_refuses(cli: Cli) -> None:
    cli("stream add S --subjects s --max-msgs 1 --discard new", status=0)
    assert "maximum messages exceeded" in cli("pub s x -J --count 3", status=1).err
