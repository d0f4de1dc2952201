"""`server network ls`."""

import json

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_ls(networks: Networks, pair: str) -> None:
    rows = json.loads(networks("ls --json"))
    assert pair in [row["network"] for row in rows]
    assert json.loads(networks("ls --names --json")) == networks("ls --names").split()
    assert pair in networks("ls")
    assert "unexpected" in networks(f"ls {pair}", 64)
