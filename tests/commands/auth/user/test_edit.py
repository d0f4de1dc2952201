"""`auth user edit`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    claims = auth_cli("auth user edit alice ORDERS --pub-allow a --subscriptions 7 --json", status=0).json
    assert (claims["nats"]["pub"], claims["nats"]["subs"]) == ({"allow": ["a"]}, 7)
    assert acme.read_user("ORDERS", "alice").claims == claims
    assert "Max Subscriptions: 8" in auth_cli("auth user edit alice --subscriptions 8", status=0).out
    assert acme.read_user("ORDERS", "alice").nats["pub"] == {"allow": ["a"]}, "what no flag names stays"
    assert "'a..b' is not a valid subject" in auth_cli("auth user edit alice --pub-allow a..b", status=64).err
