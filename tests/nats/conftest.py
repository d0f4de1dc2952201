"""Fixtures of connections."""

from collections.abc import Iterator

import pytest


@pytest.fixture(params=["loop_free", "in_a_loop"])
def each_connection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test twice: verbs that need no event loop connect without one, and in one."""
    if request.param == "in_a_loop":
        monkeypatch.setattr("jsctl.nats.loop_free.is_suitable", lambda settings: False)
    yield
