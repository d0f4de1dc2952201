"""A stream and a consumer that the tests of several verbs use."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def orders(url: str) -> None:
    """ORDERS, empty."""
    js.stream(url, "ORDERS", "ORDERS.*")


@pytest.fixture
def pull(cli: Cli, orders: None) -> None:
    """The pull consumer C of ORDERS."""
    cli("consumer add ORDERS C --pull --filter ORDERS.a --sample 50", status=0)
