"""`server network wait`."""

import json
import re

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_wait_for_mirrors_and_faults(networks: Networks, pair: str) -> None:
    networks.at(pair, "stream add SITE --subjects site --js-domain leaf --defaults")
    networks.at(pair, "pub site hello --count 500 -J --context pair-leaf")
    networks.at(pair, "stream add COPY --mirror SITE@leaf --js-domain hub --defaults")
    networks(f"wait {pair}")
    assert json.loads(networks.at(pair, "stream info COPY --json"))["state"]["messages"] == 500
    assert re.search(r"COPY +hub-server +1/1 +500 +0\n", networks(f"status {pair}"))
    networks.at(pair, "stream rm COPY --force")  # after a fault it may retry for a minute
    networks(f"link down leaf-hub --network {pair}")
    assert "leaf-hub  leaf  down" in networks(f"status {pair}", 1)
    networks.at(pair, "stream info SITE --js-domain leaf", status=4)
    networks(f"link up --all --network {pair}")
    networks(f"kill hub --network {pair}")
    assert networks.servers(pair) == {"hub": "killed", "leaf": "up"}
    for verb in ("pause", "resume", "kill", "lame-duck"):
        assert "hub is not running; jsctl server network start hub" in networks(f"{verb} hub -n {pair}", 1)
    networks(f"start hub --network {pair}")
    networks(f"wait {pair}")
    assert networks.servers(pair) == {"hub": "up", "leaf": "up"}
