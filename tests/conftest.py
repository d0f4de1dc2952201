"""Fixtures: real servers, a command line, a pseudo-terminal."""

import contextlib
import functools
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import nkeys
import pytest
from hypothesis import is_hypothesis_test, settings

from tests.support import spark_home
from tests.support.jwt import Key, Operator, new_key
from tests.support.run import Cli
from tests.support.servers import Account, AccountServers, Cluster, HubLeaf, RealServer

# Collecting tests leaves no garbage to speak of, and looking for it is a quarter of what it takes.
gc.disable()

# A test's terminal says its own size; xdist gives its workers one that would go before it.
for _size in ("COLUMNS", "LINES"):
    os.environ.pop(_size, None)

# Tests start jsctl hundreds of times: without byte code on disk each of those would compile it again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Few examples in every run; --hypothesis-profile=thorough tries many. On a busy machine an example takes as
# long as it takes; the test's own timeout remains.
settings.register_profile("jsctl", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("jsctl")

# A run in the background inherits ignored signals, and so would the processes to which tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Commands that tests start do not use an archive of classes, unless a test is about it.
os.environ.setdefault("JSCTL_SPARK_ARCHIVE", "off")

_TESTS = Path(__file__).parent
_QUICK = ("unit", "architecture")
"""Folders whose tests take less time than workers need to start."""


_ORDER = (
    "spark/test_chaos.py",
    # While the quick Spark is made, what needs none.
    "scenarios/test_watched_network.py",
    "jetstream/backup/test_copy_resumed.py",
    "commands/demo/test_walk.py",
    "architecture/test_lint.py",
    "commands/test_doctor_cluster.py",
    "jetstream/backup",
    "spark/session",
    "commands/export",
    "commands/test_import.py",
    "fuzz/test_spark_session.py",
    "spark/test_pipeline.py",
    "scenarios/test_readme_tour.py",
    "commands/demo",
    "spark",
    "scenarios",
    "jetstream",
    "commands/server",
    "commands",
    "nats",
    "fuzz",
    "contract",
)
"""Files and folders by how long they take."""


_WITH_SPARK = (
    "commands/export",
    "commands/test_import.py",
    "contract/test_file_modes.py",
    "fuzz/test_spark_session.py",
    "scenarios/test_permissions.py",
    "spark/datasource",
    "spark/sink",
    "spark/test_decoding.py",
)
"""Files and folders whose tests use the fixture `spark`."""


_FAST = "not slow and not spark and not cluster"
"""Marks that `--fast` leaves out; it also leaves out `tests/fuzz`, where a case takes all memory it may."""

_LONG = ("long", "cluster")
"""Marks of what kills, makes faults, starts clusters or walks demos: it needs `--long`, or a file's name."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes `-n auto` means: five, or none where they would not help. Tests wait for servers
    longer than they compute: five keep two cores busy, three in the fast loop, where each costs its start.

    A file's tests share a worker, so that one file, like the quick folders, runs in this process.
    """
    paths = {config.invocation_params.dir / arg.split("::")[0] for arg in config.args}
    quick = all(any(path.is_relative_to(_TESTS / name) for name in _QUICK) for path in paths)
    one_file = len(paths) == 1 and all(path.is_file() for path in paths)
    return 0 if quick or one_file else 3 if config.getoption("--fast") else 5


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    from tests.support.scheduling import Scheduling  # for the process that has the workers

    with_spark = tuple(f"{_TESTS.name}/{path}" for path in _WITH_SPARK)
    return Scheduling(config, log, lambda file: file.startswith(with_spark))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="with the tests that kill, make faults, start clusters or walk demos",
    )
    parser.addoption(
        "--fast",
        action="store_true",
        help="every contract, one case of each other test that does not wait, no property tests",
    )
    parser.addoption("--fuzz", type=float, metavar="N", help="try N times as many cases in tests/fuzz")


def pytest_configure(config: pytest.Config) -> None:
    if times := config.getoption("--fuzz"):
        os.environ["JSCTL_FUZZ"] = str(times)  # workers inherit it
    if config.getoption("--fast"):
        config.option.markexpr = config.option.markexpr or _FAST
    if not hasattr(config, "workerinput") and config.option.numprocesses:
        _compile_package()
        if config.args == config.getini("testpaths") and not config.option.markexpr:
            _compile_tests()
            # Workers that need it wait for it; the first files need none.
            make = [sys.executable, "-m", spark_home.__name__, str(config.cache.mkdir("spark"))]
            nowhere = subprocess.DEVNULL
            subprocess.Popen(make, cwd=_TESTS.parent, stdin=nowhere, stdout=nowhere, stderr=nowhere)


def _compile_package() -> None:
    """Compile jsctl once, before each worker does so for itself at the same time as the others."""
    package = _TESTS.parent / "jsctl"
    if any(not Path(cache_from_source(str(file))).exists() for file in package.glob("nats/*.py")):
        subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "2", str(package)], check=False)


def _compile_tests() -> None:
    """Compile the tests once, too, with pytest's assertions: two processes collect half of them each."""
    folders = [path for path in _TESTS.iterdir() if path.is_dir() and any(path.rglob("test_*.py"))]
    if any((path / "__pycache__").exists() for path in folders):
        return
    large = [_TESTS / "commands"]
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-n", "0", "-p", "no:cacheprovider"]
    nowhere = subprocess.DEVNULL
    halves = large, [path for path in folders if path not in large]
    processes = [
        subprocess.Popen([*collect, *map(str, half)], stdin=nowhere, stdout=nowhere, stderr=nowhere)
        for half in halves
    ]
    for process in processes:
        process.wait()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make the quick Spark before a test's timeout begins to run: the first time, it takes a minute or more.
    What fails here fails in the test's setup, too."""
    with contextlib.suppress(Exception):
        _use_quick_spark(item)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    _use_quick_spark(item)


def _use_quick_spark(item: pytest.Item) -> None:
    if item.get_closest_marker("spark"):
        spark_home.use_quick_spark(item.config.cache.mkdir("spark"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files whose tests all have a mark that `-m 'not slow and not spark'` leaves out are not imported."""
    if config.getoption("--fast") and collection_path == _TESTS / "fuzz":
        return True
    expression = config.option.markexpr
    if not re.fullmatch(r"not \w+( and not \w+)*", expression) or not collection_path.match("test_*.py"):
        return None
    of_all = re.search(r"^pytestmark = .*", collection_path.read_text(), re.MULTILINE)
    marks = set(re.findall(r"mark\.(\w+)", of_all[0])) if of_all else set()
    return True if marks & set(re.findall(r"not (\w+)", expression)) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones first: workers, which take a file at a time, then end at about the same time. Without
    the long ones, unless these are asked for, or a file is."""
    is_file_named = any("::" in arg or arg.endswith(".py") for arg in config.args)
    if not config.getoption("--long") and not is_file_named:
        config.hook.pytest_deselected(items=[item for item in items if _is_long(item)])
        items[:] = [item for item in items if not _is_long(item)]
    if config.getoption("--fast"):
        first_cases = {
            _case(item): item
            for item in items[::-1]
            # Without property tests Hypothesis need not read the whole package for its constants.
            if not is_hypothesis_test(getattr(item, "obj", None))
        }
        items[:] = list(first_cases.values())[::-1]
    folders = [_TESTS / path for path in _ORDER]

    @functools.cache
    def place(file: Path) -> int:
        return next((at for at, path in enumerate(folders) if file.is_relative_to(path)), len(folders))

    items.sort(key=lambda item: place(item.path))


def _is_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in _LONG)


def _case(item: pytest.Item) -> tuple[object, ...]:
    """Return what cases of one test have in common; contracts hold for every case."""
    is_contract = item.path.is_relative_to(_TESTS / "contract")
    name = item.originalname if isinstance(item, pytest.Function) and not is_contract else item.name
    return item.path, item.getparent(pytest.Class), name


def pytest_collection_finish() -> None:
    """What is there now stays until the end: the garbage collector need not look at it."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)
    gc.enable()


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
        cli(f"stream rm {name} --force", status=0)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark for the whole run; commands that are called in this process use it too."""
    from jsctl.spark.session.session import open_session

    with open_session() as shared:
        yield shared
