"""`auth account edit`."""

from jsctl.auth.jwt import decode_jwt
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


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
