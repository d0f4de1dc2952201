"""`kv create`."""

import pytest

from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_create_takes_new_and_deleted_keys(config: Cli) -> None:
    config("kv create CONFIG user.3 Dan", status=0)
    config("kv create CONFIG user.2 Eve", status=0)
    refused = config("kv create CONFIG user.1 Zed", status=1)
    assert "key user.1 already exists at revision 2; jsctl kv put CONFIG user.1 replaces it" in refused.err
    assert config("kv get CONFIG user.1 --raw", status=0).out == "Bob"


@pytest.mark.slow
def test_a_key_that_expires(cli: Cli) -> None:
    cli("kv add S --marker-ttl 1s", status=0)
    created = cli("kv create S lock x --ttl 1s", status=0)
    assert created.err == ""
    assert cli("kv ls S --verbose --json", status=0).json[0]["ttl"] in ("1s", "1")
    wait_for(lambda: cli("kv get S lock").status == 3, "the key expires")
    # The marker, too, expires after a second; it says why until then.
    assert any(word in cli("kv get S lock").err for word in ("key lock expired at", "key lock not found"))


def test_ttls_that_cannot_be(cli: Cli, config: Cli) -> None:
    assert "whole seconds" in config("kv create CONFIG a x --ttl 100ms", status=64).err
    assert "--marker-ttl 1m allows it" in config("kv create CONFIG a x --ttl 5s", status=1).err
    cli("kv add S --marker-ttl 1h --history 2", status=0)
    assert "warning: it expires after 1h0m0s" in cli("kv create S a x --ttl 5s", status=0).err
    assert "warning" not in cli("kv create S a y --ttl 5s", status=1).err
