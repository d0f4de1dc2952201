"""A store that other tests break."""

from pathlib import Path

import pytest

from tests.support.auth_store import Store
from tests.unit.auth.test_check import base


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """EXP exports a stream, a service and a private stream; IMP imports the first two."""
    store = Store(tmp_path)
    base(store)
    return store
