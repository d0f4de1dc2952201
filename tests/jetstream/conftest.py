"""The fixture of tests over random streams."""

from collections.abc import Iterator

import pytest

from tests.support.random_streams import Server


@pytest.fixture
def server(url: str) -> Iterator[Server]:
    server = Server(url)
    yield server
    server.close()
