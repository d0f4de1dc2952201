"""`auth account info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    account = acme.read_account("ORDERS")
    users = [{"name": name} for name in acme.list_user_names("ORDERS")]
    document = auth_cli("auth account info ORDERS --json", status=0).json
    assert document == {**account.claims, "token": account.token, "users": users}
    shown = auth_cli("auth account info ORDERS", status=0).out
    for line in ("Operator: ACME", "Users: 1", "Connections: unlimited", "JetStream Limits:"):
        assert line in shown
    assert "JetStream Limits:" not in auth_cli("auth account info SYSTEM", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account info NOPE", status=3).err
