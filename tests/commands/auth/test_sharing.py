"""`auth account` exports and imports that belong together, and errors."""

import pytest

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_an_export_and_its_import(shop: AuthStore, auth_cli: Cli) -> None:
    line = "auth account exports add prices 'prices.*.get' ORDERS --service --token-position 2 --advertise"
    flags = (
        "--response-type stream --response-threshold 2s --latency lat.p --sampling 10 --description Prices"
    )
    export = auth_cli(f"{line} {flags} --json", status=0).json
    assert export == {
        "name": "prices",
        "subject": "prices.*.get",
        "type": "service",
        "account_token_position": 2,
        "advertise": True,
        "response_type": "Stream",
        "response_threshold": 2_000_000_000,
        "service_latency": {"sampling": 10, "results": "lat.p"},
        "description": "Prices",
    }
    line = "auth account imports add prices 'prices.*.get' SHOP --source ORDERS --service --share"
    imported = auth_cli(f"{line} --local 'shop.prices.$1' --json", status=0).json
    assert imported["account"] == shop.read_account("ORDERS").public and imported["share"]
    assert imported["local_subject"] == "shop.prices.$1"
    (row,) = auth_cli("auth account exports ls ORDERS --json", status=0).json
    assert row["importers"] == ["SHOP"] and row["token_position"] == 2
    edit = "auth account exports edit 'prices.*.get' ORDERS --no-advertise --latency '' --token-position 0"
    export = auth_cli(f"{edit} --json", status=0).json
    assert not {"advertise", "service_latency", "account_token_position"} & set(export)
    auth_cli("auth account imports edit 'shop.prices.$1' SHOP --local 'p.*' --no-share", status=0)
    assert "p.*" in auth_cli("auth account imports info 'p.*' SHOP", status=0).out
    assert "SHOP import it" in auth_cli("auth account exports rm 'prices.*.get' ORDERS --force", status=0).err
    auth_cli("auth account imports rm 'p.*' SHOP --force", status=0)
    assert auth_cli("auth account imports ls SHOP --json", status=0).json == []
    assert "imports" not in shop.read_account("SHOP").nats


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("exports add x 'a..b' ORDERS", 64, "not a valid subject"),
        ("exports add x a.b ORDERS --token-position 1", 64, "is not *"),
        ("exports add x a.b ORDERS --latency l", 64, "--service"),
        ("exports add x s.v ORDERS --service --latency l --sampling 101", 64, "percentage"),
        ("exports info a.b ORDERS", 3, "does not export a.b"),
        ("exports info '' ORDERS", 3, "has no exports"),
        ("imports add x a.b SHOP --source NOPE", 3, "no account 'NOPE'"),
        ("imports add x a.b SHOP --source SHOP", 64, "from itself"),
        ("imports add x 'a.*' SHOP --source ORDERS --local b", 64, "wildcards"),
        ("imports add x a.b SHOP --source ORDERS --share", 64, "--service"),
        ("imports rm a.b SHOP --force", 3, "no import at a.b"),
        ("mappings add ORDERS a b 0", 64, "0"),
        ("mappings rm ORDERS a", 3, "no mapping of a"),
        ("keys info ORDERS nope", 3, "no signing key 'nope'"),
        ("keys add ORDERS", 64, "--unscoped"),
        ("revocations add nobody ORDERS", 3, "no user 'nobody'"),
        ("revocations rm alice ORDERS --force", 3, "does not revoke"),
        ("callout SHOP --allow ORDERS", 64, "--auth-user"),
        ("callout SHOP --auth-user sam --xkey abc", 64, "curve"),
        ("rm SYSTEM --force", 64, "system account"),
        ("rm SHOP", 64, "--force"),
    ],
)
def test_errors_are_one_line(line: str, status: int, words: str, shop: AuthStore, auth_cli: Cli) -> None:
    before = shop.get_account_path("ORDERS").read_text(), shop.get_account_path("SHOP").read_text()
    outcome = auth_cli(f"auth account {line}", status=status)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1 and not outcome.out
    assert before == (shop.get_account_path("ORDERS").read_text(), shop.get_account_path("SHOP").read_text())
