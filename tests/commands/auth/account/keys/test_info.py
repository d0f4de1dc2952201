"""`auth account keys info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    (scope,) = acme.read_account("ORDERS").nats["signing_keys"]
    assert auth_cli("auth account keys info ORDERS ship --json", status=0).json == scope
    shown = auth_cli(f"auth account keys info ORDERS {scope['key']}", status=0).out
    assert "Role: ship" in shown and "Publish Allow: a" in shown and "Seed in the Store: true" in shown
    assert "no signing key 'nope'" in auth_cli("auth account keys info ORDERS nope", status=3).err
