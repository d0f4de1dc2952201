"""`auth account keys ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.tables import read_table


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account keys ls ORDERS --json", status=0).json == []
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    auth_cli("auth user add bob ORDERS --key ship", status=0)
    (row,) = auth_cli("auth account keys ls ORDERS --json", status=0).json
    assert (row["role"], row["pub_permissions"], row["users"], row["seed"]) == ("ship", 1, 1, True)
    [shown] = read_table(auth_cli("auth account keys ls ORDERS", status=0).out)
    assert shown["Role"] == "ship"
    assert "there is no account 'NOPE'" in auth_cli("auth account keys ls NOPE", status=3).err
