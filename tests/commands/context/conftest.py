"""jsctl with its own, empty folder of contexts."""

import pytest

from tests.support.run import Cli


@pytest.fixture
def cli(offline_cli: Cli) -> Cli:
    return offline_cli
