"""`server check server`."""

from pathlib import Path

from tests.support.checks import check
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_a_server(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    system = Cli(tmp_path / "system", hub_leaf.system_url)
    outcome = check(system, "server --name leaf-server --auth-required --js-required --uptime-critical 0s")
    assert outcome["ok"] and outcome["check_name"] == "leaf-server"
    assert check(system, "server --tls-required", 2)["critical"] == ["TLS is off"]
    many = "server --name leaf-server --cpu-warn 900 --cpu-critical"
    assert check(system, f"{many} 1000 --conn-warn 100 --conn-critical 200")["status"] == "OK"
    assert check(system, f"{many} 800", 2)["critical"] == [
        "CPU: the critical threshold is below the one for warnings"
    ]
    assert check(system, "server --uptime-warn 1s --uptime-critical 2s", 2)["critical"]
    assert check(system, "server --tls-cert-warn 1d", 2)["critical"] == ["the server has no certificate"]
    assert check(system, "server --conn-warn 10000 --conn-critical 5000", 2)["status"] == "CRITICAL"
    assert "are not clustered" in str(check(system, "meta --expect 3", 2)["critical"])
