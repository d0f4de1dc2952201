"""`kv import --atomic`."""

import json

import pytest

from tests.support import js
from tests.support.run import Cli


def lines(count: int, **last: str) -> str:
    entries = [{"key": f"k{number}", "value": "v"} for number in range(count - 1)]
    return "".join(json.dumps(entry) + "\n" for entry in [*entries, {"key": "last", "value": "", **last}])


@pytest.fixture
def batches(cli: Cli, url: str) -> Cli:
    """B, whose stream allows batches and TTLs."""
    js.bucket(url, "B", max_msgs_per_subject=5, allow_atomic=True, allow_msg_ttl=True)
    return cli


def test_all_entries_are_stored(batches: Cli, url: str) -> None:
    done = batches("kv import B --atomic --json", stdin=lines(1000), status=0)
    assert done.json == {"bucket": "B", "values": 1000, "markers": 0}
    assert js.info(url, "KV_B")["state"]["last_seq"] == 1000
    batches("kv import B --atomic --force", stdin=lines(3, operation="PURGE"), status=0)
    assert batches("kv history B last --json", status=0).json[0]["operation"] == "PURGE"
    assert batches("kv import B --atomic --force", stdin="", status=0).out != ""


def test_or_none_is(batches: Cli, url: str) -> None:
    for text, status, words in (
        (lines(1001), 64, "more than 1,000 entries"),
        (lines(3) + "nonsense\n", 64, "stdin line 4 is not JSON"),
        (lines(500, ttl="0.1s"), 1, "TTL"),
    ):
        assert words in batches("kv import B --atomic --force", stdin=text, status=status).err
        assert js.info(url, "KV_B")["state"]["last_seq"] == 0


def test_a_bucket_that_does_not_allow_batches(config: Cli, url: str) -> None:
    before = js.info(url, "KV_CONFIG")["state"]
    refused = config("kv import CONFIG --atomic --force", stdin=lines(2), status=64).err
    assert "jsctl stream edit KV_CONFIG --allow-batch allows them" in refused
    assert js.info(url, "KV_CONFIG")["state"] == before
