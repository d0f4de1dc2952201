"""`server report cpu`."""

from tests.support.run import Cli


def test_cpu(system: Cli) -> None:
    values = system("server report cpu --json", status=0).json
    assert set(values) == {"hub-server", "leaf-server"}
    assert all(value >= 0 for value in values.values())
    rows = system("server report cpu --rows --json", status=0).json
    assert {row["server"] for row in rows} == set(values) and all(row["cpu"] >= 0 for row in rows)
    shown = system("server report cpu --host leaf-server", status=0).out
    assert "CPU Usage" in shown and "leaf-server" in shown and "hub-server" not in shown
    assert "100ms" in system("server report cpu --watch 1ms", status=64).err
