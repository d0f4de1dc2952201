"""`jsctl server check server`, `meta`, `connection`, `credential` and `request`."""

from pathlib import Path

import pytest

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


@pytest.mark.slow
@pytest.mark.cluster
def test_a_cluster(cluster_system: Cli) -> None:
    outcome = check(cluster_system, "meta --expect 3")
    peers = next(measure for measure in outcome["perf_data"] if measure["name"] == "peers")
    assert (outcome["status"], peers["warning"], peers["critical"]) == ("OK", 3, 3)
    assert check(cluster_system, "meta --expect 5", 2)["critical"]


def test_a_single_server(system: Cli) -> None:
    assert "are not clustered" in str(check(system, "meta --expect 3", 2)["critical"])
    assert len(system("server check meta --expect many", status=64).err.splitlines()) == 1


def test_a_connection(cli: Cli) -> None:
    out = cli("server check connection", status=0).out
    assert out.startswith("OK Connection OK:connected to nats://127.0.0.1:")
    assert " OK:connected in " in out and ":t" not in out.split(" OK:connected in ")[0].split("nats:")[1]
    assert ";0.5000;1.0000 rtt=" in out
    assert check(cli, "connection --rtt-warn 1us", 1)["status"] == "WARNING"
    assert check(cli, "connection --rtt-critical 1us", 2)["status"] == "CRITICAL"


def test_no_server_is_critical(offline_cli: Cli) -> None:
    out = offline_cli("server check connection -s nats://127.0.0.1:9", status=2).out
    assert out.startswith("CRITICAL Connection Crit:cannot connect")
    assert len(out.splitlines()) == 1


def test_a_credential(cli: Cli, tmp_path: Path) -> None:
    from jsctl.auth.jwt import encode_jwt
    from jsctl.auth.keys import USER, create_key
    from jsctl.auth.store import format_creds

    key = create_key(USER)
    path = tmp_path / "u.creds"
    for expires, line, status in (
        ({}, "", 2),
        ({}, "--no-require-expiry", 0),
        ({"exp": 4_000_000_000}, "--validity-critical 1d", 0),
        ({"exp": 4_000_000_000}, "--validity-warn 87600h --validity-critical 1d", 0),
        ({"exp": 1_000_000_000}, "", 2),
    ):
        token = encode_jwt(
            {"sub": key.public, "name": "u", "nats": {"type": "user", "version": 2}, **expires}, key
        )
        path.write_text(format_creds(token, key.seed))
        check(cli, f"credential --credential {path} {line}", status)
    outcome = check(cli, f"credential --credential {path} --validity-warn 1d", 2)
    (expiry,) = outcome["perf_data"]
    assert expiry["value"] < 0 and expiry["warning"] == 86400 and len(outcome["critical"]) == 1
    path.write_text("nothing")
    assert "is not a credentials file" in str(check(cli, f"credential --credential {path}", 2)["critical"])


def test_a_request(cli: Cli) -> None:
    outcome = check(cli, "request --subject nobody --response-critical 3s", 2)
    assert "nobody answers" in str(outcome["critical"])
    assert [measure["critical"] for measure in outcome["perf_data"]] == [3]
