"""`jsctl auth account` and its commands."""

import pexpect
import pytest

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_settings_of_an_account(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth account add SHOP --connections 5 --bearer --js-disk 1GB --expiry 30d --tags a,b --tags c"
    auth_cli(line + " --default-pub-allow 'shop.>' --trace-context trace.shop", status=0)
    claims = auth_cli("auth account info SHOP --json", status=0).json
    nats = claims["nats"]
    assert nats["limits"]["conn"] == 5 and not nats["limits"]["disallow_bearer"]
    assert nats["limits"]["disk_storage"] == 1 << 30 and "mem_storage" not in nats["limits"]
    assert nats["tags"] == ["a", "b", "c"] and nats["trace"]["dest"] == "trace.shop"
    assert claims["exp"] - claims["iat"] in range(30 * 86400 - 5, 30 * 86400 + 5)
    auth_cli("auth account edit SHOP --no-jetstream --expiry 0 --no-tags b --trace-context ''", status=0)
    claims = auth_cli("auth account info SHOP --json", status=0).json
    assert "exp" not in claims and claims["nats"]["tags"] == ["a", "c"] and "trace" not in claims["nats"]
    assert "disk_storage" not in claims["nats"]["limits"]
    assert claims["nats"]["limits"]["conn"] == 5


def test_questions(acme: AuthStore, auth_cli: Cli) -> None:
    asked = auth_cli("auth account add", answers=["SHOP", "10", ..., "1MB", True, "5GB", ...], status=0).asked
    assert asked[0] == "Account name" and "Enable JetStream?" in asked
    limits = auth_cli("auth account info SHOP --json", status=0).json["nats"]["limits"]
    assert (limits["conn"], limits["subs"], limits["payload"]) == (10, -1, 1 << 20)
    assert (limits["disk_storage"], limits["mem_storage"]) == (5 << 30, 1 << 30)
    auth_cli("auth user add eve", answers=["SHOP", ..., "7"], status=0)
    assert auth_cli("auth user info eve --json", status=0).json["nats"]["subs"] == 7
    assert auth_cli("auth user add u2 SHOP --defaults", answers=[], status=0).asked == []


@pytest.mark.slow
def test_questions_on_a_terminal(acme: AuthStore, auth_cli: Cli) -> None:
    terminal = auth_cli.terminal("auth account add")
    for question, answer in (
        ("Account name", "SHOP"),
        ("Client connections", ""),
        ("Subscriptions", ""),
        ("Bytes of a message", ""),
    ):
        terminal.expect_exact(question)
        terminal.sendline(answer)
    terminal.expect_exact("Enable JetStream?")
    terminal.sendline("n")
    terminal.expect_exact("Account SHOP")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert acme.read_account("SHOP").nats["limits"]["conn"] == -1


def test_limits_without_a_flag_are_unlimited(acme: AuthStore, auth_cli: Cli) -> None:
    for name, flags in (("A", "--jetstream --js-disk 1GB"), ("B", "--js-disk 1GB"), ("C", "--jetstream")):
        auth_cli(f"auth account add {name} --defaults {flags}", status=0)
        limits = acme.read_account(name).nats["limits"]
        assert limits["disk_storage"] == (-1 if name == "C" else 1 << 30)
        assert (limits["mem_storage"], limits["streams"], limits["consumer"]) == (-1, -1, -1), name


def test_claims_that_are_unknown_survive(acme: AuthStore, auth_cli: Cli) -> None:
    from jsctl.auth.changes import change_account

    change_account(acme, "ORDERS", lambda nats: nats.update(of_2030={"a": [1]}))
    auth_cli("auth account edit ORDERS --connections 7", status=0)
    nats = decode_jwt(acme.get_account_path("ORDERS").read_text())["nats"]
    assert nats["of_2030"] == {"a": [1]} and nats["limits"]["conn"] == 7


def test_limits_by_tier(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account add TIERS --tier R3 --js-disk 1GB --js-streams 5", status=0)
    auth_cli("auth account edit TIERS --tier R1 --js-memory 1GB", status=0)
    tiers = acme.read_account("TIERS").nats["limits"]["tiered_limits"]
    assert tiers == {
        "R3": {"disk_storage": 1 << 30, "streams": 5, "consumer": -1},
        "R1": {"mem_storage": 1 << 30, "streams": -1, "consumer": -1},
    }
    shown = auth_cli("auth account info TIERS", status=0).out
    assert "JetStream Limits R1" in shown and "JetStream Limits R3" in shown
    assert "select one with --tier" in auth_cli("auth account edit TIERS --js-streams 2", status=64).err
    assert "R2" in auth_cli("auth account edit TIERS --tier R2 --js-streams 2", status=64).err
    auth_cli("auth account edit TIERS --no-jetstream", status=0)
    assert "tiered_limits" not in acme.read_account("TIERS").nats["limits"]


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    account = acme.read_account("ORDERS")
    users = [{"name": name} for name in acme.list_user_names("ORDERS")]
    document = auth_cli("auth account info ORDERS --json", status=0).json
    assert document == {**account.claims, "token": account.token, "users": users}
    shown = auth_cli("auth account info ORDERS", status=0).out
    for line in ("Operator: ACME", "Users: 1", "Connections: unlimited", "JetStream Limits:"):
        assert line in shown
    assert "JetStream Limits:" not in auth_cli("auth account info SYSTEM", status=0).out
    assert "there is no account 'NOPE'" in auth_cli("auth account info NOPE", status=3).err


def test_ls(acme: AuthStore, auth_cli: Cli) -> None:
    rows = auth_cli("auth account ls --json", status=0).json
    assert [(row["name"], row["users"], row["jetstream"], row["system"]) for row in rows] == [
        ("ORDERS", 1, True, False),
        ("SYSTEM", 0, False, True),
    ]
    assert auth_cli("auth account ls --names", status=0).out == "ORDERS\nSYSTEM\n"
    assert auth_cli("auth account ls ACME", status=0).out.startswith("Accounts of ACME\n")
    assert "there is no operator 'NOPE'" in auth_cli("auth account ls NOPE", status=3).err


def test_an_account_is_removed_with_its_users(shop: AuthStore, auth_cli: Cli) -> None:
    sam = shop.read_user("SHOP", "sam")
    assert "1 users" not in auth_cli("auth account rm SHOP", answers=[False], status=0).err
    assert "SHOP" in shop.list_account_names()
    auth_cli("auth account rm SHOP --force --keys", status=0)
    assert shop.list_account_names() == ["ORDERS", "SYSTEM"]
    assert not shop.has_seed(sam.public) and not shop.get_creds_path("SHOP", "sam").exists()
