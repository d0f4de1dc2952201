"""A server in operator mode and the store of its operator."""

from collections.abc import Iterator

import pytest

from tests.support.operator_site import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Operator ACME, and a server that knows it."""
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.server.stop()
