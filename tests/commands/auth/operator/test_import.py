"""`auth operator import`."""

from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_import(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    operator = acme.read_operator()
    seed = acme.get_seed_path(operator.public)
    auth_cli.environ["XDG_DATA_HOME"] = str(tmp_path / "elsewhere")
    auth_cli(f"auth operator import {acme.operator_jwt} {seed}", status=0)
    assert auth_cli("auth operator info --json", status=0).json["token"] == operator.token
    auth_cli("auth account add NEW", status=0)
    assert "already" in auth_cli(f"auth operator import {acme.operator_jwt}", status=64).err
    auth_cli(f"auth operator import {acme.operator_jwt} --force", status=0)
    user = acme.get_user_path("ORDERS", "alice")
    assert "not the JWT of an operator" in auth_cli(f"auth operator import {user}", status=64).err
    other = acme.get_seed_path(acme.read_account("ORDERS").public)
    assert (
        "is not a key of operator"
        in auth_cli(f"auth operator import {acme.operator_jwt} {other} --force", status=64).err
    )
