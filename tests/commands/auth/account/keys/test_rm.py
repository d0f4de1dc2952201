"""`auth account keys rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    (scope,) = acme.read_account("ORDERS").nats["signing_keys"]
    remove = "auth account keys rm ORDERS --key ship"
    assert "Really remove the signing key ship" in auth_cli(remove, status=64).err
    removed = auth_cli(f"{remove} --force --json", status=0).json
    assert removed == {"account": "ORDERS", "removed": scope["key"], "role": "ship", "users": []}
    assert not acme.has_seed(scope["key"])
    assert "no signing key 'ship'" in auth_cli(f"{remove} --force", status=3).err
