"""Fixtures: real servers, a command line, a Spark."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nkeys
import pytest

from jsctl.env import Env
from tests.support import run, verb_shapes
from tests.support.jwt import Key, Operator, new_key
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers, Cluster, HubLeaf, RealServer
from tests.support.stepping import as_in_a_process_of_its_own


@pytest.fixture(scope="session", autouse=True)
def alone() -> Iterator[None]:
    """Verbs get the driver that they would get in a process of their own."""
    with as_in_a_process_of_its_own():
        yield


@pytest.fixture(autouse=True)
def _handlers_are_restored(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test has the handlers of signals of a new process, and leaves them as they were. PySpark's handler of
    SIGINT, which stays in the process that started a Spark, is for tests of Spark."""
    of_worker = signal.getsignal(signal.SIGINT)
    if "spark" not in request.fixturenames:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before
    signal.signal(signal.SIGINT, of_worker)


@pytest.fixture
def outputs_are_valid(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every output of the test has the form that its schema describes."""
    faults: list[str] = []

    def observe(env: Env, args: Sequence[str], outcome: run.Outcome) -> None:
        faults.extend(verb_shapes.find_faults(env, args, outcome))

    monkeypatch.setattr(run, "observers", [observe])
    yield
    assert not faults, "\n".join(faults)


@pytest.fixture(scope="session")
def account_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccountServers]:
    """Makes accounts on demand, for the whole run."""
    servers = AccountServers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.stop()


@pytest.fixture
def own_account(account_servers: AccountServers) -> Account:
    """The test's own account, on a server that other tests use too."""
    return account_servers.new_account()


@pytest.fixture
def url(own_account: Account) -> str:
    """A URL with the login of a fresh account with JetStream."""
    return own_account.url


@pytest.fixture
def system_url(own_account: Account) -> str:
    """A URL with the login of the system account, on the server of `url`."""
    return own_account.server.url_for("admin")


@pytest.fixture(scope="module")
def nkey() -> Key:
    """The key of a user."""
    return new_key(nkeys.PREFIX_BYTE_USER)


@pytest.fixture(scope="module")
def operator() -> Operator:
    """An operator with accounts."""
    return Operator()


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, operator: Operator) -> Iterator[RealServer]:
    """A server in the operator's mode."""
    server = RealServer(tmp_path_factory.mktemp("operator"), operator.config()).start()
    yield server
    server.stop()


@pytest.fixture
def cli(tmp_path: Path, url: str) -> Cli:
    """jsctl against a fresh account."""
    return Cli(tmp_path / "config", url)


@pytest.fixture
def offline_cli(tmp_path: Path) -> Cli:
    """jsctl without any server."""
    return Cli(tmp_path / "config")


@pytest.fixture(scope="session")
def shared_hub_leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubLeaf]:
    pair = HubLeaf(tmp_path_factory.mktemp("hubleaf")).start()
    yield pair
    pair.stop()


@pytest.fixture
def hub_leaf(shared_hub_leaf: HubLeaf, tmp_path: Path) -> Iterator[HubLeaf]:
    """The guide's pair; streams are removed afterwards."""
    yield shared_hub_leaf
    clean = Cli(tmp_path / "clean", shared_hub_leaf.url)
    for domain in ("hub", "leaf"):
        names = clean(f"stream ls --js-domain {domain} --all --json", status=0).json
        for name in names:
            clean(f"stream rm {name} --force --js-domain {domain}", status=0)


@pytest.fixture
def hub_cli(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    """jsctl connected to the hub as acc."""
    return Cli(tmp_path / "config", hub_leaf.url)


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three servers; tests remove the streams that they make, or give them names of their own."""
    three = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield three.start()
    finally:
        three.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three servers of the test's own, which it may stop."""
    three = Cluster(tmp_path)
    try:
        yield three.start()
    finally:
        three.stop()


@pytest.fixture
def cluster_cli(tmp_path: Path, shared_cluster: Cluster) -> Iterator[Cli]:
    """jsctl connected to the cluster as acc; streams are removed afterwards."""
    cli = Cli(tmp_path / "config", shared_cluster.url)
    yield cli
    shared_cluster.wait()
    for name in cli("stream ls --all --json", status=0).json:
        cli(f"stream rm {name} --force --unprotect {name}", status=0)  # it may have no leader now


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark for the whole run; commands that are called in this process use it too."""
    from jsctl.spark.session.session import open_session

    with open_session() as shared:
        yield shared
