"""`auth user ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth user add bob ORDERS --pub-allow a --subscriptions 7", status=0)
    rows = auth_cli("auth user ls ORDERS --json", status=0).json
    assert [(row["name"], row["pub_permissions"], row["subscriptions"]) for row in rows] == [
        ("alice", False, None),
        ("bob", 1, 7),
    ]
    assert auth_cli("auth user ls ORDERS --names", status=0).out == "alice\nbob\n"
    assert "there is no account 'NOPE'" in auth_cli("auth user ls NOPE", status=3).err
