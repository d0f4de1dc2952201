"""`auth user add`."""

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_settings_of_a_user(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth user add bob --pub-allow 'a.>,b' --sub-deny c --allow-pub-response 1 --response-ttl 5s"
    auth_cli(f"{line} ORDERS --source-network 10.0.0.0/8 --time 08:00-17:30 --locale Europe/Berlin", status=0)
    nats = auth_cli("auth user info bob --json", status=0).json["nats"]
    assert nats["pub"] == {"allow": ["a.>", "b"]} and nats["sub"] == {"deny": ["c"]}
    assert nats["resp"] == {"max": 1, "ttl": 5_000_000_000}
    assert nats["src"] == ["10.0.0.0/8"]
    assert nats["times"] == [{"start": "08:00:00", "end": "17:30:00"}]
    shown = auth_cli("auth user info bob ORDERS", status=0).out
    assert "08:00:00 to 17:30:00" in shown and "Publish Allow: a.>" in shown
    auth_cli("auth user edit bob --pub-allow '' --source-network '' --allow-pub-response 0", status=0)
    nats = auth_cli("auth user info bob --json", status=0).json["nats"]
    assert nats["pub"] == {} and "src" not in nats and "resp" not in nats


def test_nothing_is_written_for_credentials_that_have_no_place(acme: AuthStore, auth_cli: Cli) -> None:
    err = auth_cli("auth user add bob ORDERS --credential /no/such/folder/bob.creds", status=64).err
    assert "there is no folder /no/such/folder" in err
    assert acme.list_user_names("ORDERS") == ["alice"]


@pytest.mark.parametrize("line", ["auth user add", "auth account add"])
def test_nothing_is_asked_without_an_operator(offline_cli: Cli, line: str) -> None:
    outcome = offline_cli(line, tty=True, answers=[], status=3)
    assert "there are no operators in" in outcome.err
    assert outcome.asked == []
