"""A service that the tests of several verbs use."""

import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.run import Cli
from tests.support.services import start
from tests.support.waiting import wait_for


@pytest.fixture
def demo(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """Two instances of `demo`; the first of them."""
    running = [start(cli, "serve", "demo", "-H", "Region:eu") for _ in range(2)]
    wait_for(lambda: len(cli("service list --json", status=0).json) == 2, "two instances answer")
    yield running[0]
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
