"""`auth account revocations ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account revocations ls ORDERS --json", status=0).json == []
    auth_cli("auth account revocations add alice ORDERS", status=0)
    (row,) = auth_cli("auth account revocations ls ORDERS --json", status=0).json
    alice = acme.read_user("ORDERS", "alice").public
    assert (row["kind"], row["name"], row["key"]) == ("user", "alice", alice)
    assert row["until"] == acme.read_account("ORDERS").nats["revocations"][alice]
    assert "alice" in auth_cli("auth account revocations ls ORDERS", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account revocations ls NOPE", status=3).err
