"""`auth account exports edit`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    edit = "auth account exports edit 'orders.>' ORDERS"
    export = auth_cli(f"{edit} --description D --private --json", status=0).json
    assert (export["name"], export["description"], export["token_req"]) == ("orders", "D", True)
    assert acme.read_account("ORDERS").nats["exports"] == [export]
    assert "is not *" in auth_cli(f"{edit} --token-position 1", status=64).err
    assert acme.read_account("ORDERS").nats["exports"] == [export]
