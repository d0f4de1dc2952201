"""A store of operators, accounts and users of the test's own."""

import shutil
from pathlib import Path

import pytest

from jsctl.auth.folders import StoreFolders
from jsctl.auth.store import AuthStore
from tests.support.auth_store import BILL, ORDERS, Store
from tests.support.run import Cli


@pytest.fixture
def auth_cli(tmp_path: Path) -> Cli:
    """jsctl with an empty store."""
    cli = Cli(tmp_path / "config")
    cli.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    return cli


@pytest.fixture(scope="session")
def acme_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `acme`, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("acme")
    cli = Cli(folder / "config")
    cli.environ["XDG_DATA_HOME"] = str(folder / "data")
    cli("auth operator add ACME", status=0)
    cli("auth account add ORDERS --jetstream", status=0)
    cli("auth user add alice ORDERS", status=0)
    return folder / "data"


@pytest.fixture
def acme(acme_files: Path, auth_cli: Cli, tmp_path: Path) -> AuthStore:
    """The store of operator ACME with account ORDERS and its user alice."""
    shutil.copytree(acme_files, tmp_path / "data")
    return AuthStore(StoreFolders.below(tmp_path / "data" / "nats" / "nsc"), "ACME")


@pytest.fixture
def shop(acme: AuthStore, auth_cli: Cli) -> AuthStore:
    """Beside ORDERS, account SHOP with user sam."""
    auth_cli("auth account add SHOP", status=0)
    auth_cli("auth user add sam SHOP", status=0)
    return acme


@pytest.fixture
def store(auth_cli: Cli, tmp_path: Path) -> Store:
    """SALES exports a stream and a service, SHOP imports both."""
    store = Store(tmp_path / "data" / "nats" / "nsc")
    sales = store.account("SALES", exports=[ORDERS, BILL])
    service = {**BILL, "local_subject": "pay.$1", "account": sales.public}
    store.account("SHOP", imports=[{**ORDERS, "account": sales.public}, service])
    store.user(
        "SHOP", "alice", pub={"allow": ["pay.*"], "deny": ["pay.x"]}, sub={"deny": ["orders.secret.>"]}
    )
    return store
