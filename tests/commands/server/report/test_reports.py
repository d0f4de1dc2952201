"""What holds for every report on servers."""

import pytest

from tests.support.run import Cli
from tests.support.tables import find_wide


@pytest.mark.slow
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
    assert find_wide(out, 80) == []


@pytest.mark.parametrize("interval", ["5", "0.5", "500ms"])
@pytest.mark.parametrize(
    "line",
    [
        *(f"server report {verb}" for verb in ("jetstream", "connections", "accounts", "downgrade 1")),
        "account report statistics",
    ],
)
def test_an_interval_is_a_duration_or_seconds(offline_cli: Cli, line: str, interval: str) -> None:
    offline_cli(f"{line} --watch {interval} --server nats://127.0.0.1:1", status=4)


def test_an_interval_in_seconds_is_read_as_such(offline_cli: Cli) -> None:
    assert "must be 100ms or more" in offline_cli("server report cpu --watch 0.05", status=64).err
