"""What holds for every report on servers."""

import re

import pytest

from tests.support.run import Cli


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
    assert all(len(re.sub(r"\x1b\[\d+m", "", row)) <= 80 for row in out.splitlines())
