"""`auth user edit`."""

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    claims = auth_cli("auth user edit alice ORDERS --pub-allow a --subscriptions 7 --json", status=0).json
    assert (claims["nats"]["pub"], claims["nats"]["subs"]) == ({"allow": ["a"]}, 7)
    assert acme.read_user("ORDERS", "alice").claims == claims
    assert "Max Subscriptions: 8" in auth_cli("auth user edit alice --subscriptions 8", status=0).out
    assert acme.read_user("ORDERS", "alice").nats["pub"] == {"allow": ["a"]}, "what no flag names stays"
    assert "'a..b' is not a valid subject" in auth_cli("auth user edit alice --pub-allow a..b", status=64).err


@pytest.mark.slow
def test_a_user_who_was_revoked_this_second_is_signed_in_the_next(acme: AuthStore, auth_cli: Cli) -> None:
    """A revocation holds for its whole second."""
    for number in range(3):  # a busy machine may be in the next second already
        auth_cli("auth account revocations add alice ORDERS", status=0)
        claims = auth_cli(f"auth user edit alice ORDERS --subscriptions {number} --json", status=0).json
        revoked = acme.read_account("ORDERS").nats["revocations"]
        assert claims["iat"] > revoked[claims["sub"]]
    auth_cli("auth account revocations add alice ORDERS --at 1h", status=0)
    auth_cli("auth user edit alice ORDERS --subscriptions 9", status=0)
