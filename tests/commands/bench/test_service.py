"""`bench service`."""

import json

import pytest

from tests.support.benching import run, start, stop
from tests.support.run import Cli
from tests.support.waiting import wait_for


@pytest.mark.slow
def test_requests_and_their_service(cli: Cli) -> None:
    serving = start(cli, "service serve bench.svc --json --clients 2")
    try:
        wait_for(lambda: len(cli("service list --json").json) == 2, "two clients serve")
        document = run(cli, "service request bench.svc --msgs 50 --warmup 5")
        assert document["messages"] == 50 and document["latency"]["count"] == 50
        out, _ = stop(serving)
    finally:
        serving.kill()
    assert serving.returncode == 0
    assert json.loads(out)["messages"] == 55
    assert "nobody answers on bench.svc" in cli("bench service request bench.svc", status=4).err
