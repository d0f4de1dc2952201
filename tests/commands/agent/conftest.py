"""A folder for the temporary files of agents."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents import list_leftovers
from tests.support.waiting import wait_for


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for temporary files, with a blank in its name; in the end no agent is left in it."""
    with tempfile.TemporaryDirectory(prefix="js ctl-", dir="/tmp") as path:
        yield Path(path)
        wait_for(lambda: not list_leftovers(Path(path)), "nothing is left")
