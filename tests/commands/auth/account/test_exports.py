"""`auth account exports`."""

import os
import subprocess
import sys

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_processes_beside_each_other_lose_nothing(acme: AuthStore, auth_cli: Cli) -> None:
    lines = [[sys.executable, "-m", "jsctl", "auth", "account", "exports", "add"] for _ in range(6)]
    running = [
        subprocess.Popen(
            [*line, f"e{number}", f"e.{number}", "ORDERS"],
            env={**os.environ, **auth_cli.environ},
            stdout=subprocess.DEVNULL,
        )
        for number, line in enumerate(lines)
    ]
    assert [process.wait() for process in running] == [0] * 6
    assert len(acme.read_account("ORDERS").nats["exports"]) == 6


def test_add(acme: AuthStore, auth_cli: Cli) -> None:
    export = auth_cli("auth account exports add orders 'orders.>' ORDERS --json", status=0).json
    assert acme.read_account("ORDERS").nats["exports"] == [export]
    again = auth_cli("auth account exports add orders 'orders.>' ORDERS", status=64)
    assert "already" in again.err and len(again.err.splitlines()) == 1


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    edit = "auth account exports edit 'orders.>' ORDERS"
    export = auth_cli(f"{edit} --description D --private --json", status=0).json
    assert (export["name"], export["description"], export["token_req"]) == ("orders", "D", True)
    assert acme.read_account("ORDERS").nats["exports"] == [export]
    assert "is not *" in auth_cli(f"{edit} --token-position 1", status=64).err
    assert acme.read_account("ORDERS").nats["exports"] == [export]


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    shown = auth_cli("auth account exports info 'orders.>' ORDERS", status=0).out
    assert shown.startswith("Export orders.> of Account ORDERS\n") and "Kind: stream" in shown
    (export,) = acme.read_account("ORDERS").nats["exports"]
    assert auth_cli("auth account exports info 'orders.>' ORDERS --json", status=0).json == export
    assert "does not export a.b" in auth_cli("auth account exports info a.b ORDERS", status=3).err


def test_ls(shop: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account exports ls ORDERS --json", status=0).json == []
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    (row,) = auth_cli("auth account exports ls ORDERS --json", status=0).json
    assert (row["name"], row["kind"], row["subject"]) == ("orders", "stream", "orders.>")
    assert row["importers"] == ["SHOP"]
    assert "orders.>" in auth_cli("auth account exports ls ORDERS", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account exports ls NOPE", status=3).err


def test_rm(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account imports add orders 'orders.>' SHOP --source ORDERS", status=0)
    remove = "auth account exports rm 'orders.>' ORDERS"
    assert "Would remove the export orders.> of ORDERS" in auth_cli(f"{remove} --dry-run", status=0).out
    assert "use --force" in auth_cli(remove, status=64).err
    assert shop.read_account("ORDERS").nats["exports"]
    removed = auth_cli(f"{remove} --force --json", status=0).json
    assert removed == {"account": "ORDERS", "removed": "orders.>", "importers": ["SHOP"]}
    assert "does not export orders.>" in auth_cli(f"{remove} --force", status=3).err
