"""`latency`."""

from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_latency(cli: Cli, hub_leaf: HubLeaf, tmp_path: Path) -> None:
    target = tmp_path / "h"
    line = f"latency --duration 300ms --rate 500 --size 64 --histogram {target}"
    out = cli(line, status=0).out
    assert "Median Latency" in out and "Messages Lost: 0" in out
    assert len((tmp_path / "h.raw").read_text().splitlines()) == 150
    assert "inf" in (tmp_path / "h.histogram").read_text()
    leaf = hub_leaf.leaf.url_for("acc")
    result = cli(f"latency -s {hub_leaf.url} --server-b {leaf} --duration 300ms --json", status=0).json
    assert result["messages"] == 300 and 0 < result["min_ns"] <= result["median_ns"] <= result["max_ns"]


@pytest.mark.slow
def test_latency_between_strangers(cli: Cli, hub_leaf: HubLeaf) -> None:
    assert "in the same network" in cli(f"latency --server-b {hub_leaf.url}", status=4).err


@pytest.mark.parametrize("flags", ["--size 7", "--rate 0", "--duration 0s"])
def test_wrong_command_lines(flags: str, cli: Cli) -> None:
    assert cli(f"latency {flags}", status=64).err.count("\n") == 1
