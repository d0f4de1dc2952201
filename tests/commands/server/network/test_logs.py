"""`server network logs`."""

import pytest

from tests.support.networks import Networks

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


def test_the_logs(networks: Networks, pair: str) -> None:
    lines = networks(f"logs hub --lines 3 -n {pair}").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("hub: [") for line in lines)
