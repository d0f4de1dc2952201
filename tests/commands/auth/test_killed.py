"""A process that is killed between any two of its writes leaves a store that can be read and continued."""

import shutil
from pathlib import Path

import pytest

from jsctl.auth.store import AuthStore
from tests.support.killing import kill_points
from tests.support.run import Cli


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "auth operator add NEW",
        "auth account add NEW --operator ACME",
        "auth user add new ORDERS --operator ACME",
        "auth user rm alice ORDERS --operator ACME --revoke --force",
        "auth account rm ORDERS --operator ACME --force",
    ],
)
def test_killed(line: str, acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    data, saved = tmp_path / "data", tmp_path / "saved"
    shutil.copytree(data, saved)
    killed = read = 0
    for _ in kill_points(lambda: auth_cli(line, status=0), data, {}):
        killed += 1
        for operator in auth_cli("auth operator ls --names", status=0).out.split():
            store = AuthStore(acme.folders, operator)
            assert store.read_operator().public
            for account in store.read_accounts():
                read += 1
                assert store.has_seed(account.public)
                for user in (
                    store.read_user(account.name, name) for name in store.list_user_names(account.name)
                ):
                    if "rm" not in line:
                        assert store.has_seed(user.public)
            named = store.read_operator().nats.get("system_account")
            assert named in {account.public for account in store.read_accounts()}
        again = auth_cli(line)
        assert again.status in (0, 3, 64), again.err
        shutil.rmtree(data)
        shutil.copytree(saved, data)
    assert killed >= 3 and read >= killed
