"""`auth operator keys`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_add(acme: AuthStore, auth_cli: Cli) -> None:
    added = auth_cli("auth operator keys add ACME --json", status=0).json
    assert added["operator"] == "ACME" and acme.has_seed(added["key"])
    assert acme.read_operator().nats["signing_keys"][1:] == [added["key"]]
    assert "there is no operator 'NOPE'" in auth_cli("auth operator keys add NOPE", status=3).err


def test_list(acme: AuthStore, auth_cli: Cli) -> None:
    (key,) = acme.read_operator().nats["signing_keys"]
    assert auth_cli("auth operator keys list --json", status=0).json == [
        {"key": key, "seed": True, "accounts": 0}
    ]
    assert key in auth_cli("auth operator keys ls ACME", status=0).out
    assert "there is no operator 'NOPE'" in auth_cli("auth operator keys list NOPE", status=3).err


def test_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    (first,) = auth_cli("auth operator keys ls --json", status=0).json
    key = auth_cli("auth operator keys add ACME", status=0).out.strip()
    auth_cli(f"auth account edit ORDERS --key {key}", status=0)
    assert acme.read_account("ORDERS").issuer == key
    removed = auth_cli(f"auth operator keys rm ACME {key} --force", status=0)
    assert "it signed ORDERS" in removed.err and not acme.has_seed(key)
    assert auth_cli("auth operator keys ls --json", status=0).json == [first]
    assert "no signing key" in auth_cli(f"auth operator keys rm ACME {key} --force", status=3).err
