"""`server report mem`."""

from tests.support.run import Cli


def test_mem(system: Cli) -> None:
    values = system("server report mem --json", status=0).json
    assert set(values) == {"hub-server", "leaf-server"}
    assert all(value > 1 << 20 for value in values.values())
    rows = system("server report mem --rows --json", status=0).json
    assert {row["server"] for row in rows} == set(values) and all(row["mem"] >= 0 for row in rows)
    shown = system("server report mem --host leaf-server", status=0).out
    assert "Memory Usage" in shown and "leaf-server" in shown and "hub-server" not in shown
    assert "100ms" in system("server report mem --watch 1ms", status=64).err
