"""`auth operator keys list`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_list(acme: AuthStore, auth_cli: Cli) -> None:
    (key,) = acme.read_operator().nats["signing_keys"]
    assert auth_cli("auth operator keys list --json", status=0).json == [
        {"key": key, "seed": True, "accounts": 0}
    ]
    assert key in auth_cli("auth operator keys ls ACME", status=0).out
    assert "there is no operator 'NOPE'" in auth_cli("auth operator keys list NOPE", status=3).err
