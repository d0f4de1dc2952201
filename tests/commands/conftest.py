"""Fixtures of several verbs."""

from pathlib import Path

import pytest

from tests.support.declared import Files
from tests.support.run import Cli


@pytest.fixture
def files(cli: Cli, tmp_path: Path) -> Files:
    """Applies texts as files of declared streams."""
    return Files(cli, tmp_path)
