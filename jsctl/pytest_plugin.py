"""The pytest plugin: the fixtures `network` and `network_factory`. pytest finds it where jsctl is installed.

def test_nothing_is_lost(network):
    net = network("hub-leaf")
    net.jsctl("stream add ORDERS --subjects 'ORDERS.>' --defaults", context="leaf")
    net.link_down("leaf-hub")
    ...
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jsctl.testing import Network

Start = Callable[[str | Path], "Network"]
"""Starts a network; it ends with the fixture."""

_STARTED = pytest.StashKey[list["Network"]]()


@contextmanager
def _networks(folders: pytest.TempPathFactory, stash: pytest.Stash) -> Iterator[Start]:
    from jsctl.testing import Network  # here, since pytest loads this file in every run

    started = stash.setdefault(_STARTED, [])
    with ExitStack() as stack:

        def start(source: str | Path) -> Network:
            net = stack.enter_context(Network(source, folders.mktemp(f"network-{Path(source).stem}")))
            started.append(net)
            stack.callback(started.remove, net)
            return net

        yield start


@pytest.fixture
def network(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Start]:
    """`network("hub-leaf")` starts real nats-servers, which end with the test."""
    with _networks(tmp_path_factory, request.config.stash) as start:
        yield start


@pytest.fixture(scope="session")
def network_factory(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Start]:
    """As `network`, for a network that many tests share: it ends with the run."""
    with _networks(tmp_path_factory, request.config.stash) as start:
        yield start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the last lines that the servers wrote."""
    report = yield
    fixtures: Any = getattr(item, "fixturenames", ())
    if report.when == "call" and report.failed and {"network", "network_factory"} & set(fixtures):
        for net in item.config.stash.get(_STARTED, []):
            for server, lines in net.last_lines().items():
                report.sections.append((f"nats-server {server}", lines))
    return report
