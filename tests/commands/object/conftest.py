"""A bucket that the tests of several verbs use."""

from pathlib import Path

import pytest

from tests.support.run import Cli


@pytest.fixture
def files(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and a bucket FILES."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    cli("object add FILES", status=0)
    return folder
