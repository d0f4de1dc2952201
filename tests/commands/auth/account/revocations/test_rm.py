"""`auth account revocations rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account revocations add alice ORDERS", status=0)
    assert "--force" in auth_cli("auth account revocations rm alice ORDERS", status=64).err
    assert acme.read_account("ORDERS").nats["revocations"]
    assert auth_cli("auth account revocations rm alice ORDERS --force --json", status=0).json == []
    assert not acme.read_account("ORDERS").nats.get("revocations")
    assert "does not revoke" in auth_cli("auth account revocations rm alice ORDERS --force", status=3).err
