"""Counters that the tests of several verbs use."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def hits(cli: Cli, url: str) -> Cli:
    """HITS counts hits.>, and ALL sums it up."""
    js.stream(url, "HITS", "hits.>", allow_msg_counter=True, allow_direct=True)
    source = {"name": "HITS"}
    js.stream(url, "ALL", "all.>", allow_msg_counter=True, allow_direct=True, sources=[source])
    return cli
