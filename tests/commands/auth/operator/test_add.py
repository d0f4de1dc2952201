"""`auth operator add`."""

from tests.support.run import Cli


def test_an_operator_has_a_system_account_and_a_signing_key(auth_cli: Cli) -> None:
    shown = auth_cli("auth operator add ACME --tags Prod --service nats://h:4222", status=0).out
    assert "System Account: SYSTEM (A" in shown and "Tags: prod" in shown
    claims = auth_cli("auth operator info --json", status=0).json
    assert claims["sub"] == claims["iss"] and len(claims["nats"]["signing_keys"]) == 1
    assert claims["nats"]["operator_service_urls"] == ["nats://h:4222"]
    (row,) = auth_cli("auth operator ls --json", status=0).json
    assert (row["name"], row["accounts"], row["signing_keys"]) == ("ACME", 1, 1)
    assert auth_cli("auth operator ls --names", status=0).out == "ACME\n"
    assert "already" in auth_cli("auth operator add ACME", status=64).err
    auth_cli("auth operator add EMPTY --service ''", status=0)
    assert "operator_service_urls" not in auth_cli("auth operator info EMPTY --json", status=0).json["nats"]
