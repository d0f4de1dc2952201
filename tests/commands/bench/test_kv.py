"""`bench kv`."""

import pytest

from tests.support import js
from tests.support.benching import run
from tests.support.run import Cli


@pytest.mark.parametrize(("flag", "limit"), [("", 1 << 30), ("--maxbytes ''", -1)])
def test_the_limit_of_a_new_bucket(flag: str, limit: int, cli: Cli, url: str) -> None:
    run(cli, f"kv put --msgs 1 --processes 0 {flag}")
    assert js.info(url, "KV_benchbucket")["config"]["max_bytes"] == limit


def test_a_bucket_is_created_filled_and_read(cli: Cli, url: str) -> None:
    assert "not found" in cli("bench kv get --msgs 5", status=3).err
    document = run(cli, "kv put --msgs 50 --size 20 --history 3 --storage memory --clients 2 --processes 0")
    assert document["bytes"] == 1000
    config = js.info(url, "KV_benchbucket")["config"]
    assert (config["storage"], config["max_msgs_per_subject"]) == ("memory", 3)
    assert run(cli, "kv get --msgs 50")["bytes"] == 1000
    run(cli, "kv put --msgs 20 --purge --randomize 4")
    assert len(cli("kv ls benchbucket --json").json) <= 4
    assert "has no key" in cli("bench kv get --msgs 60", status=3).err
    assert "not found" in cli("bench kv put --bucket other", status=3).err
