"""`auth account rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_an_account_is_removed_with_its_users(shop: AuthStore, auth_cli: Cli) -> None:
    sam = shop.read_user("SHOP", "sam")
    assert "1 users" not in auth_cli("auth account rm SHOP", answers=[False], status=0).err
    assert "SHOP" in shop.list_account_names()
    auth_cli("auth account rm SHOP --force --keys", status=0)
    assert shop.list_account_names() == ["ORDERS", "SYSTEM"]
    assert not shop.has_seed(sam.public) and not shop.get_creds_path("SHOP", "sam").exists()
