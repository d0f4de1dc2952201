"""`auth operator info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    operator = acme.read_operator()
    document = auth_cli("auth operator info --json", status=0).json
    assert {key: document[key] for key in operator.claims} == operator.claims
    assert document["token"] == operator.token and set(document) - set(operator.claims) == {
        "token",
        "accounts",
    }
    accounts = {account["name"]: account for account in document["accounts"]}
    assert set(accounts) == set(acme.list_account_names())
    assert accounts["ORDERS"]["token"] == acme.read_account("ORDERS").token
    assert accounts["ORDERS"]["users"] == [{"name": name} for name in acme.list_user_names("ORDERS")]
    shown = auth_cli("auth operator info ACME", status=0).out
    assert "Accounts: 2" in shown and "System Account: SYSTEM (A" in shown
    assert "Strict Signing: false" in shown
    assert "there is no operator 'ACNE'" in auth_cli("auth operator info ACNE", status=3).err
