"""`auth account revocations`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_revocations(shop: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account exports add orders 'orders.>' ORDERS", status=0)
    auth_cli("auth account revocations add alice ORDERS", status=0)
    auth_cli("auth account revocations add '*' ORDERS --at 1h", status=0)
    rows = auth_cli("auth account revocations add SHOP ORDERS --export 'orders.>' --json", status=0).json
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("user", "(all)"),
        ("user", "alice"),
        ("activation", "SHOP"),
    ]
    assert rows[1]["until"] - rows[0]["until"] in range(3590, 3611)
    assert "Revoked: true" in auth_cli("auth user info alice", status=0).out
    auth_cli("auth account revocations rm alice ORDERS --force", status=0)
    auth_cli("auth account revocations rm SHOP ORDERS --export 'orders.>' --force", status=0)
    assert [row["key"] for row in auth_cli("auth account revocations ls ORDERS --json", status=0).json] == [
        "*"
    ]
    alice = shop.read_user("ORDERS", "alice")
    auth_cli("auth user rm alice --revoke --force", status=0)
    assert alice.public in shop.read_account("ORDERS").nats["revocations"]
    assert not shop.has_seed(alice.public) and not shop.get_creds_path("ORDERS", "alice").exists()


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth account revocations ls ORDERS --json", status=0).json == []
    auth_cli("auth account revocations add alice ORDERS", status=0)
    (row,) = auth_cli("auth account revocations ls ORDERS --json", status=0).json
    alice = acme.read_user("ORDERS", "alice").public
    assert (row["kind"], row["name"], row["key"]) == ("user", "alice", alice)
    assert row["until"] == acme.read_account("ORDERS").nats["revocations"][alice]
    assert "alice" in auth_cli("auth account revocations ls ORDERS", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account revocations ls NOPE", status=3).err


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account revocations add alice ORDERS", status=0)
    assert "--force" in auth_cli("auth account revocations rm alice ORDERS", status=64).err
    assert acme.read_account("ORDERS").nats["revocations"]
    assert auth_cli("auth account revocations rm alice ORDERS --force --json", status=0).json == []
    assert not acme.read_account("ORDERS").nats.get("revocations")
    assert "does not revoke" in auth_cli("auth account revocations rm alice ORDERS --force", status=3).err
