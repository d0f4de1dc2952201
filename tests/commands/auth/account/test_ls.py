"""`auth account ls`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    rows = auth_cli("auth account ls --json", status=0).json
    assert [(row["name"], row["users"], row["jetstream"], row["system"]) for row in rows] == [
        ("ORDERS", 1, True, False),
        ("SYSTEM", 0, False, True),
    ]
    assert auth_cli("auth account ls --names", status=0).out == "ORDERS\nSYSTEM\n"
    assert auth_cli("auth account ls ACME", status=0).out.startswith("Accounts of ACME\n")
    assert "there is no operator 'NOPE'" in auth_cli("auth account ls NOPE", status=3).err
