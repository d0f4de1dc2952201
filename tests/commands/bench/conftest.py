"""A stream that the tests of several verbs use."""

import pytest

from tests.support.run import Cli


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """With 200 messages in the stream of benchmarks."""
    cli(
        "bench js pub async events --create --storage memory --msgs 200 --multisubject --multisubjectmax 10",
        status=0,
    )
    return cli
