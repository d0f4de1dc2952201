"""`server network down`."""

import json

import pytest

from jsctl.localserver import processes
from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_down(networks: Networks) -> None:
    networks("up single --port 0 --name short")
    folder = networks.folder("short")
    assert json.loads(networks("down short --dry-run --json"))["folder"] == str(folder)
    assert "use --force or --keep-data" in networks("down short", 64)
    assert processes.find_all(folder)
    assert f"its data is in {folder}" in networks("down short --keep-data")
    assert not processes.find_all(folder)
    networks("down short --force")
    assert not folder.exists()
    assert "there is no network 'short'" in networks("down short --force", 3)
