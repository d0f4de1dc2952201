"""Reports on all servers: connections, accounts, links, health, use of CPU and memory."""

import re
from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.fixture
def system(tmp_path: Path, hub_leaf: HubLeaf) -> Cli:
    return Cli(tmp_path / "system", hub_leaf.system_url)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("accounts", "Accounts Overview"),
        ("acct ACC --sort conns --top 1", "1 Accounts Overview"),
        ("connections", "Connections out of"),
        ("connz --state all --sort uptime", "by uptime"),
        ("cpu", "CPU Usage"),
        ("mem 2", "Memory Usage"),
        ("gateways", "Super Cluster Report"),
        ("health", "Health Report"),
        ("leafnodes --account ACC", "Leafnode Report"),
        ("routes --cluster none", "Cluster Report"),
    ],
)
def test_each_fits_80_columns(system: Cli, line: str, title: str) -> None:
    out = system(f"server report {line}", tty=True, width=80, status=0).out
    assert title in out
    assert all(len(re.sub(r"\x1b\[\d+m", "", row)) <= 80 for row in out.splitlines())


def test_connections_are_added_up_by_account(system: Cli) -> None:
    rows = system("server report connections --json", status=0).json
    accounts = {row["account"]: row for row in system("server report accounts --json", status=0).json}
    assert accounts["ACC"]["connections"] == sum(row["account"] == "ACC" for row in rows)
    assert {"ACC", "SYS"} <= set(accounts)
    leaf = system("server report connections --json --filter \"kind == 'Leafnode'\"", status=0).json
    assert leaf
    assert all(row["kind"] == "Leafnode" for row in leaf)
    assert len(system("server report connections --top 1 --json", status=0).json) == 1


def test_leafnodes_and_health(system: Cli) -> None:
    rows = system("server report leafnodes --json", status=0).json
    assert {(row["server"], row["spoke"], row["account"]) for row in rows} == {
        (server, server == "leaf-server", account)
        for server in ("hub-server", "leaf-server")
        for account in ("ACC", "SYS")
    }
    health = system("server report health --json", status=0).json
    assert {(row["server"], row["status"]) for row in health} == {("hub-server", "ok"), ("leaf-server", "ok")}


def test_a_wrong_expression(system: Cli) -> None:
    outcome = system("server report connections --filter 'in_msgs >'", status=64)
    assert len(outcome.err.splitlines()) == 1
