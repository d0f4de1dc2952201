"""`auth user rm`."""

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_a_broken_user_can_be_removed(acme: AuthStore, auth_cli: Cli) -> None:
    acme.get_user_path("ORDERS", "alice").write_text("garbage")
    auth_cli("auth user info alice", status=1)
    auth_cli("auth user rm alice --force", status=0)
    assert acme.list_user_names("ORDERS") == []


def test_rm(acme: AuthStore, auth_cli: Cli) -> None:
    alice = acme.read_user("ORDERS", "alice")
    assert "use --force" in auth_cli("auth user rm alice ORDERS", status=64).err
    removed = auth_cli("auth user rm alice ORDERS --force --json", status=0).json
    assert removed["removed"] == "alice"
    assert acme.list_user_names("ORDERS") == [] and not acme.has_seed(alice.public)
    assert "no user 'alice'" in auth_cli("auth user rm alice ORDERS --force", status=3).err
