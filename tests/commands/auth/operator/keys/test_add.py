"""`auth operator keys add`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_add(acme: AuthStore, auth_cli: Cli) -> None:
    added = auth_cli("auth operator keys add ACME --json", status=0).json
    assert added["operator"] == "ACME" and acme.has_seed(added["key"])
    assert acme.read_operator().nats["signing_keys"][1:] == [added["key"]]
    assert "there is no operator 'NOPE'" in auth_cli("auth operator keys add NOPE", status=3).err
