"""`auth account activations add`."""

from pathlib import Path

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.keys import create_key
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_a_private_export_needs_an_activation(shop: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS --private", status=0)
    added = auth_cli(
        "auth account imports add orders orders.new SHOP --source ORDERS --json",
        terminal_error=True,
        status=0,
    )
    assert "signed an activation token with the key of ORDERS" in added.err
    claims = decode_jwt(added.json["token"])
    assert claims["sub"] == shop.read_account("SHOP").public
    assert claims["iss"] == shop.read_account("ORDERS").public
    assert claims["nats"] == {"subject": "orders.new", "kind": "stream", "type": "activation", "version": 2}
    token = tmp_path / "token"
    line = "auth account activations add 'orders.>' ORDERS SHOP --expiry 1d"
    assert auth_cli(f"{line} --output {token}", status=0).out == ""
    assert "exp" in decode_jwt(token.read_text())
    auth_cli(f"auth account imports edit orders.new SHOP --token {token}", status=0)
    assert "Token Expiry" in auth_cli("auth account imports info orders.new SHOP", status=0).out
    foreign = create_key("account").public
    auth_cli(f"auth account activations add 'orders.>' ORDERS {foreign} --output {token}", status=0)
    err = auth_cli(f"auth account imports edit orders.new SHOP --token {token}", status=64).err
    assert foreign in err
