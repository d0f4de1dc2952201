"""`server network link`."""

import time

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_a_slow_link(networks: Networks, pair: str) -> None:
    networks(f"link delay leaf-hub --by 150ms -n {pair}")
    began = time.monotonic()
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf")
    assert time.monotonic() - began > 0.3
    networks(f"link up leaf-hub -n {pair}")
    networks(f"link drop leaf-hub -n {pair}")
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf --timeout 500ms", status=4)
    networks(f"link up leaf-hub -n {pair}")
    networks.at(pair, "stream ls --context pair-hub --js-domain leaf")


def test_disturbances_that_are_none(networks: Networks, pair: str) -> None:
    for line in ("delay leaf-hub --by -5ms", "delay leaf-hub --by 0s", "limit leaf-hub --to 0"):
        assert "or more; jsctl server network link up removes a" in networks(f"link {line} -n {pair}", 64)
    assert networks.at(pair, f"server network link -n {pair}").split()[-1] == "up"


def test_a_shell_of_a_network_that_has_gone(networks: Networks) -> None:
    outcome = networks.cli("server network link", environ={"JSCTL_NETWORK": "gone"}, status=3)
    assert "there is no network 'gone', which JSCTL_NETWORK names; unset it" in outcome.err
