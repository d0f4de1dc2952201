"""What holds for several verbs of `server network`: errors and dry runs."""

import json

import pytest

from jsctl.localserver import processes
from tests.support.networks import Networks

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("kill -n pair", 64, "name servers or clusters, or use --all"),
        ("kill hup -n pair", 3, "network pair has no server 'hup'; its servers are hub, leaf"),
        ("status pairs", 3, "there is no network 'pairs'; did you mean pair?"),
        ("link down leaf-hup -n pair", 3, "network pair has no link 'leaf-hup'; did you mean leaf-hub?"),
        ("link delay leaf-hub -n pair", 64, "delay needs --by"),
        ("link sideways leaf-hub -n pair", 64, "'sideways' is not a valid mode"),
        ("scale hub 3 -n pair", 64, "hub is a single server"),
        ("up none.yaml", 3, "there is no network and no file 'none.yaml'"),
        ("down pair", 64, "use --force or --keep-data"),
    ],
)
def test_each_error_is_one_line(networks: Networks, pair: str, line: str, status: int, message: str) -> None:
    result = networks(line, status)
    assert message in result
    assert len(result.splitlines()) == 1


@pytest.mark.usefixtures("outputs_are_valid")
def test_dry_runs_change_nothing(networks: Networks, pair: str) -> None:
    def state() -> dict[str, int]:
        return {name: one.pid for name, one in processes.find_all(networks.folder(pair)).items()}

    networks(f"start --all -n {pair}")
    before = state()
    for verb in ("stop", "restart", "kill", "pause", "lame-duck"):
        assert f"Would {verb} hub of network {pair}" in networks(f"{verb} hub -n {pair} --dry-run")
        assert json.loads(networks(f"{verb} hub -n {pair} --dry-run --json"))["dry_run"]
    assert f"Would stop network {pair}; its data" in networks(f"down {pair} --dry-run --keep-data")
    gone = json.loads(networks(f"down {pair} --dry-run --json"))
    assert gone["dry_run"] and gone["folder"] == str(networks.folder(pair))
    named = json.loads(networks.cli(f"server stop {networks.folder(pair)} --dry-run --json", status=0).out)
    assert {"hub", "leaf"} <= set(named["servers"])
    assert state() == before
    networks(f"kill nothing -n {pair} --dry-run", 3)
