"""`server report cpu` and `mem`."""

import pytest

from tests.support.run import Cli


@pytest.mark.parametrize(
    ("verb", "title", "least"), [("cpu", "CPU Usage", 0), ("mem", "Memory Usage", 1 << 20)]
)
def test_use(system: Cli, verb: str, title: str, least: int) -> None:
    values = system(f"server report {verb} --json", status=0).json
    assert set(values) == {"hub-server", "leaf-server"}
    assert all(value >= least for value in values.values())
    rows = system(f"server report {verb} --rows --json", status=0).json
    assert {row["server"] for row in rows} == set(values) and all(row[verb] >= 0 for row in rows)
    shown = system(f"server report {verb} --host leaf-server", status=0).out
    assert title in shown and "leaf-server" in shown and "hub-server" not in shown
    assert "100ms" in system(f"server report {verb} --watch 1ms", status=64).err
