"""A pair of servers that the tests of several verbs break and mend."""

from collections.abc import Iterator

import pytest

from tests.support.networks import Networks, networks_below


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Networks]:
    with networks_below(tmp_path_factory.mktemp("networks")) as networks:
        yield networks


@pytest.fixture(scope="session")
def pair(networks: Networks) -> str:
    """A hub and a leaf node, for the whole run: a test leaves them up."""
    networks("up hub-leaf --port 0 --name pair")
    return "pair"
