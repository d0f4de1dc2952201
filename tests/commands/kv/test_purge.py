"""`kv purge`."""

import pytest

from tests.support import js
from tests.support.buckets import operations
from tests.support.run import Cli


def test_purge_removes_what_was(config: Cli) -> None:
    config("kv purge CONFIG user.1 --force", status=0)
    assert operations(config, "user.1") == ["PURGE"]
    assert "key user.1 was purged at" in config("kv get CONFIG user.1", status=3).err
    config("kv purge CONFIG user.2 --force", status=0)
    assert operations(config, "user.2") == ["PURGE"]


@pytest.mark.slow
def test_many_keys(cli: Cli, url: str) -> None:
    js.bucket(url, "B")
    js.publish_all(url, ((f"$KV.B.k.{number:04}", b"%d" % number) for number in range(3000)))
    assert len(cli("kv ls B", status=0).out.split()) == 3000
    values = cli("kv get B 'k.*' --json", status=0).json
    assert [one["value"] for one in values] == [str(number) for number in range(3000)]
    cli("kv purge B 'k.*' --force", status=0)
    assert cli("kv ls B --json", status=0).json == []
    assert cli("kv compact B --older 1ms --force --json", status=0).json == {
        "bucket": "B",
        "keys": 3000,
        "markers": 3000,
        "messages": 3000,
    }
    assert js.info(url, "KV_B")["state"]["messages"] == 0


def test_a_purge_marker_that_expires(cli: Cli) -> None:
    cli("kv add S --marker-ttl 1s", status=0)
    cli("kv put S a x", status=0)
    cli("kv purge S a --ttl 2s --force", status=0)
    assert cli("kv history S a --json", status=0).json[0]["ttl"] in ("2s", "2")
