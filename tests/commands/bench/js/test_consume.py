"""`bench js consume`, `ordered` and `fetch`."""

import pytest

from tests.support import js
from tests.support.benching import run
from tests.support.run import Cli


@pytest.mark.parametrize(
    "verb",
    [
        "ordered",
        "consume",
        "fetch --batch 30",
        "consume --acks all",
        "fetch --acks none",
        "consume --doubleack",
    ],
)
def test_consuming(verb: str, filled: Cli) -> None:
    document = run(filled, f"js {verb} --msgs 200")
    assert (document["messages"], document["message_bytes"]) == (200, 128)
    again = run(filled, f"js {verb} --filter events.01 --filter events.02 --timeout 300ms --msgs 40")
    assert again["messages"] == 40


def test_a_stream_that_has_less(filled: Cli) -> None:
    outcome = filled("bench js consume --msgs 500 --timeout 300ms", status=1)
    assert "200 of 500" in outcome.out
    assert outcome.err.splitlines()[-1].startswith("jsctl: error: 200 of 500 messages arrived, then nothing")
    assert filled("bench js fetch --msgs 500 --timeout 300ms --json", status=1).json["complete"] is False


def test_a_consumer_of_others(filled: Cli, url: str) -> None:
    config = {"durable_name": "C", "ack_policy": "none"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.benchstream.C", {"stream_name": "benchstream", "config": config})
    assert run(filled, "js consume --consumer C --msgs 150")["messages"] == 150
    assert run(filled, "js consume --consumer C --msgs 50")["messages"] == 50
    assert "not found" in filled("bench js consume --consumer D", status=3).err
