"""`auth operator info`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    assert auth_cli("auth operator info --json", status=0).json == acme.read_operator().claims
    shown = auth_cli("auth operator info ACME", status=0).out
    assert "Accounts: 2" in shown and "System Account: SYSTEM (A" in shown
    assert "Strict Signing: false" in shown
    assert "there is no operator 'ACNE'" in auth_cli("auth operator info ACNE", status=3).err
