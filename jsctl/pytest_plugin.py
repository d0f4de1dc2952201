"""The pytest plugin: the fixtures `jsctl_network` and `jsctl_network_factory`. pytest finds it itself.

def test_nothing_is_lost(jsctl_network):
    net = jsctl_network("hub-leaf")
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
"""A function that starts a network, which ends with the fixture."""

_started: list["Network"] = []


@contextmanager
def _open_factory(folders: pytest.TempPathFactory) -> Iterator[Start]:
    from jsctl.testing import Network  # here, since pytest loads this file in every run

    with ExitStack() as stack:

        def start(source: str | Path) -> Network:
            net = stack.enter_context(Network(source, folders.mktemp(f"network-{Path(source).stem}")))
            _started.append(net)
            stack.callback(_started.remove, net)
            return net

        yield start


@pytest.fixture
def jsctl_network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return a function that starts nats-servers, `jsctl_network("hub-leaf")`; they end with the test."""
    with _open_factory(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def jsctl_network_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return the same function, for networks that many tests share; they end with the run."""
    with _open_factory(tmp_path_factory) as start:
        yield start


@pytest.hookimpl(hookwrapper=True)  # the form that pytest 7 also knows
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the last lines that the servers logged to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()
    fixtures = getattr(item, "fixturenames", ())
    if report.when == "call" and report.failed and {"jsctl_network", "jsctl_network_factory"} & set(fixtures):
        for net in _started:
            for server, lines in net.last_lines().items():
                report.sections.append((f"nats-server {server}", lines))
