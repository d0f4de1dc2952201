"""`bench sub`."""

import json
import re
import signal

import pytest

from tests.support.benching import run, start, stop
from tests.support.run import Cli


@pytest.mark.slow
def test_a_subscription_measures_what_arrives(cli: Cli) -> None:
    subscribing = start(cli, "sub events --msgs 300 --json --size 1 --multisubject --clients 2")
    try:
        for _ in range(100):
            run(cli, "pub events --msgs 300 --size 77 --multisubject")
            if subscribing.poll() is not None:
                break
        out, _ = subscribing.communicate(timeout=60)
    finally:
        subscribing.kill()
    document = json.loads(out)
    assert document["messages"] == 600 and document["message_bytes"] == 77
    assert [one["messages"] for one in document["clients"]] == [300, 300]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_anything(cli: Cli, number: signal.Signals, status: int) -> None:
    waiting = start(cli, "sub nothing")
    try:
        assert waiting.stderr
        line = waiting.stderr.readline()
        assert "Subscribing" in line and "waiting for the first message, ctrl-C ends it" in line
        out, err = stop(waiting, number)
    finally:
        waiting.kill()
    assert waiting.returncode == status and not re.search("[1-9] received", out) and "Traceback" not in err
