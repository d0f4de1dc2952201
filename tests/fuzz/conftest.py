"""How many cases are tried, and the table of them at the end of a run."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.record import cases as count
from tests.fuzz.record import table


@pytest.fixture
def cases() -> int:
    """How many cases a test of a parser tries: 300, times JSCTL_FUZZ."""
    return count(300)


@pytest.fixture(scope="session", autouse=True)
def _table(request: pytest.FixtureRequest) -> Any:
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print("", *table(), sep="\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """More cases may take more time."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and (times := float(os.environ.get("JSCTL_FUZZ") or 1)) > 1:
            item.add_marker(pytest.mark.timeout(float(config.getini("timeout")) * times))
