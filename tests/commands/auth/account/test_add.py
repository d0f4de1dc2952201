"""`auth account add`."""

import pexpect
import pytest

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
