"""`kv info`."""

import re

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_info(config: Cli) -> None:
    shown = config("kv info CONFIG", tty=True, status=0).out
    for line in ("Bucket Name: CONFIG", "History Kept: 5", "Keys: 2", "Values Stored: 5", "KV_CONFIG"):
        assert line in shown
    document = config("kv status CONFIG --json", status=0).json
    assert (document["keys"], document["values"], document["newest_revision"]) == (2, 5, 5)
    assert document["stream"]["config"]["name"] == "KV_CONFIG"
    assert config("kv view", answers=["CONFIG"], status=0).out == config("kv info CONFIG", status=0).out


@pytest.mark.slow
def test_a_copy_that_is_ahead(cli: Cli, url: str) -> None:
    cli("kv add O", status=0)
    cli("kv add M --mirror O", status=0)
    js.publish(url, "$KV.O.k", b"v", count=5)
    wait_for(lambda: js.info(url, "KV_M")["state"]["last_seq"] == 5, "it is not copied")
    cli("kv rm O --force", status=0)
    cli("kv add O", status=0)
    js.publish(url, "$KV.O.k", b"v", count=2)
    page = cli("kv info M", status=0).out
    assert re.search(r"Lag: 0\n +Ahead: 3 sequences past its origin\n", page), page
    assert "ahead" not in cli("kv info M --json", status=0).json["stream"]["mirror"]
