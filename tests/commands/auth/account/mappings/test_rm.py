"""`auth account mappings rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account mappings add ORDERS a.b c.d 30", status=0)
    auth_cli("auth account mappings add ORDERS x y", status=0)
    auth_cli("auth account mappings rm ORDERS a.b", status=0)
    assert list(acme.read_account("ORDERS").nats["mappings"]) == ["x"]
    refused = auth_cli("auth account mappings rm ORDERS a.b --force --json", status=3)
    assert "account ORDERS has no mapping of a.b" in refused.err and not refused.out
