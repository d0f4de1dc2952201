"""`server network shell` and `env`."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


def test_env(networks: Networks, pair: str) -> None:
    variables = json.loads(networks(f"env {pair} --json"))
    assert variables["JSCTL_NETWORK"] == pair
    assert f"export JSCTL_NETWORK={pair}" in networks(f"env {pair}").splitlines()
    assert "there is no network 'none'" in networks("env none", 3)


def test_a_shell_has_the_contexts_of_the_network(networks: Networks, pair: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jsctl", "server", "network", "shell", pair],
        env={**os.environ, **networks.cli.environ, "SHELL": "/bin/sh"},
        input=f"{sys.executable} -m jsctl context ls --names; echo $JSCTL_NETWORK; exit 7\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert done.stdout.split() == ["pair-hub", "pair-leaf", "pair-system", pair]
    assert done.stderr == "", "what it says of the network is for a terminal"
    assert (
        "cannot run /none"
        in networks.cli(f"server network shell {pair}", environ={"SHELL": "/none"}, status=1).err
    )
