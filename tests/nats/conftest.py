"""Fixtures of connections."""

from collections.abc import Iterator

import pytest

from tests.support import stepping


@pytest.fixture(params=["stepped", "in_a_loop"])
def each_connection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test twice: verbs that need no event loop connect without one, and in one."""
    if request.param == "in_a_loop":
        monkeypatch.setattr(stepping, "in_a_loop", True)
    yield
