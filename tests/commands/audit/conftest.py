"""A hub with a leaf node, and an archive of what its servers tell."""

from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)
