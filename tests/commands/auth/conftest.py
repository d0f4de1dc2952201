"""A store of operators, accounts and users of the test's own."""

from pathlib import Path

import pytest

from jsctl.auth.folders import StoreFolders
from jsctl.auth.store import AuthStore
from tests.support.run import Cli


@pytest.fixture
def auth_cli(tmp_path: Path) -> Cli:
    """jsctl with an empty store."""
    cli = Cli(tmp_path / "config")
    cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    return cli


@pytest.fixture
def acme(auth_cli: Cli, tmp_path: Path) -> AuthStore:
    """The store of operator ACME with account ORDERS and its user alice."""
    auth_cli("auth operator add ACME", status=0)
    auth_cli("auth account add ORDERS --jetstream", status=0)
    auth_cli("auth user add alice ORDERS", status=0)
    return AuthStore(StoreFolders.below(tmp_path / "data" / "nats" / "nsc"), "ACME")
