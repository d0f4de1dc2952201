"""`auth account keys edit`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS ship --pub-allow a", status=0)
    edit = "auth account keys edit ORDERS ship"
    scope = auth_cli(f"{edit} --pub-allow b --sub-deny c --json", status=0).json
    assert (scope["role"], scope["template"]["pub"], scope["template"]["sub"]) == (
        "ship",
        {"allow": ["b"]},
        {"deny": ["c"]},
    )
    assert acme.read_account("ORDERS").nats["signing_keys"] == [scope]
    assert "not a valid subject" in auth_cli(f"{edit} --pub-allow a..b", status=64).err
    assert acme.read_account("ORDERS").nats["signing_keys"] == [scope]
