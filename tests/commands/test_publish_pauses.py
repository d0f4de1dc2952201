"""`publish --sleep` and `--jitter`: pauses between messages."""

import itertools

import pytest

from jsctl.base.units import MS, parse_time_ns
from tests.support import js
from tests.support.run import Cli
from tests.support.stored import stored


@pytest.mark.parametrize("flags", ["--jitter 60ms", "--sleep 20ms --jitter 60ms"])
def test_jitter(cli: Cli, url: str, flags: str) -> None:
    """A random pause between messages, in addition to --sleep."""
    js.stream(url, "S", "s.>")
    cli(f"pub s.a x --count 4 -J {flags}", status=0)
    times = [parse_time_ns(message.timestamp) for message in stored(url, "S")]
    pauses = [after - before for before, after in itertools.pairwise(times)]
    assert len(set(pauses)) == 3 and min(pauses) >= (20 * MS if "--sleep" in flags else 0)
    cli("pub s.a x --jitter 1s", status=0)  # one message has no pause


@pytest.mark.parametrize("flags", ["--jitter -1s", "--jitter=-1s", "--sleep=-1s"])
def test_negative_pauses(cli: Cli, flags: str) -> None:
    refused = cli(f"pub s.a x --count 2 {flags}", status=64)
    assert "must be 0 or more" in refused.err and refused.err.count("\n") == 1
