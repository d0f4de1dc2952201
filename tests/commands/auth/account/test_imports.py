"""`auth account imports`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli
from tests.support.tables import read_table


def test_an_import_that_nobody_exports_is_reported(shop: AuthStore, auth_cli: Cli) -> None:
    added = auth_cli("auth account imports add x a.b SHOP --source ORDERS", status=0)
    assert "does not export a.b as a stream" in added.err
    assert "already" in auth_cli("auth account imports add y a.b SHOP --source ORDERS", status=64).err


def test_edit(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    edit = "auth account imports edit 'orders.>' SHOP"
    assert auth_cli(f"{edit} --local 'a.*.>'", status=64).err
    imported = auth_cli(f"{edit} --local 'x.>' --json", status=0).json
    assert (imported["subject"], imported["local_subject"]) == ("orders.>", "x.>")
    assert shop.read_account("SHOP").nats["imports"] == [imported]
    assert "no import at a.b" in auth_cli("auth account imports edit a.b SHOP --local c", status=3).err


def test_info(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    shown = auth_cli("auth account imports info 'orders.>' SHOP", status=0).out
    assert shown.startswith("Import orders.> of Account SHOP\n") and "From Account: ORDERS (A" in shown
    (imported,) = shop.read_account("SHOP").nats["imports"]
    assert auth_cli("auth account imports info 'orders.>' SHOP --json", status=0).json == imported
    assert "no import at a.b" in auth_cli("auth account imports info a.b SHOP", status=3).err


def test_ls(shop: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account imports ls SHOP --json", status=0).json == []
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    (row,) = auth_cli("auth account imports ls SHOP --json", status=0).json
    assert (row["name"], row["kind"], row["local_subject"]) == ("orders", "stream", "orders.>")
    assert row["source"] == shop.read_account("ORDERS").public
    [shown] = read_table(auth_cli("auth account imports ls SHOP", status=0).out)
    assert shown["Source"] == "ORDERS"
    assert "there is no account 'NOPE'" in auth_cli("auth account imports ls NOPE", status=3).err


def test_rm(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    remove = "auth account imports rm 'orders.>' SHOP"
    assert "use --force" in auth_cli(remove, status=64).err
    assert "Would remove the import orders.> of SHOP" in auth_cli(f"{remove} --dry-run", status=0).out
    assert auth_cli(f"{remove} --force --json", status=0).json == {"account": "SHOP", "removed": "orders.>"}
    assert "imports" not in shop.read_account("SHOP").nats
    assert "no import at orders.>" in auth_cli(f"{remove} --force", status=3).err
