"""`auth operator edit`."""

from jsctl.auth.changes import change_operator
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator edit --service nats://a:1 --service nats://b:2 --tags X", status=0)
    nats = acme.read_operator().nats
    assert nats["operator_service_urls"] == ["nats://a:1", "nats://b:2"] and nats["tags"] == ["x"]
    auth_cli("auth operator edit ACME --service '' --no-tags x --system-account ORDERS", status=0)
    nats = acme.read_operator().nats
    assert "operator_service_urls" not in nats and "tags" not in nats
    assert nats["system_account"] == acme.read_account("ORDERS").public
    assert "not a valid URL" in auth_cli("auth operator edit --service nonsense", status=64).err


def test_strict_operators_sign_with_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    operator = acme.read_operator()
    auth_cli("auth operator edit ACME --strict", status=0)
    auth_cli("auth account edit ORDERS", status=0)
    assert acme.read_account("ORDERS").issuer in operator.nats["signing_keys"]
    assert "--no-scope" in auth_cli("auth user add bob ORDERS", status=64).err
    auth_cli("auth account keys add ORDERS --no-scope", status=0)
    auth_cli("auth user add bob ORDERS", status=0)
    assert acme.read_user("ORDERS", "bob").issuer != acme.read_account("ORDERS").public


def test_unknown_claims_of_the_operator_survive(acme: AuthStore, auth_cli: Cli) -> None:
    change_operator(acme, lambda nats: nats.update(of_2030=[1]))
    auth_cli("auth operator edit ACME --tags x --account-server nats://h", status=0)
    nats = acme.read_operator().nats
    assert nats["of_2030"] == [1] and nats["account_server_url"] == "nats://h"
