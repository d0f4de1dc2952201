"""`auth operator select`."""

import json

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_select(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator add OTHER", status=0)
    for line, flag in (("account ls", "OPERATOR"), ("operator info", "NAME"), ("account info", "--operator")):
        assert f"specify {flag}, one of ACME, OTHER" in auth_cli(f"auth {line}", status=64).err
    auth_cli("auth operator select OTHER", status=0)
    config = auth_cli.home / "nats" / "cli" / "config.json"
    assert json.loads(config.read_text()) == {"select_operator": "OTHER"}
    assert [row["name"] for row in auth_cli("auth account ls --json", status=0).json] == ["SYSTEM"]
    config.write_text('{"select_operator": "GONE", "of_2030": 1}')
    auth_cli("auth operator select", answers=["ACME"], status=0)
    assert json.loads(config.read_text()) == {"select_operator": "ACME", "of_2030": 1}
    assert "ORDERS" in auth_cli("auth account ls --names", status=0).out
