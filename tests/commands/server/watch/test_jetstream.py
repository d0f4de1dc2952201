"""`server watch jetstream`."""

from tests.support.run import Cli


def test_jetstream(system: Cli) -> None:
    rows = system("server watch jetstream --count 1 --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(row["api_rate"] == 0 for row in rows), "the first time there is no rate"
    assert "hub-server" in system("server watch jetstream --count 1", status=0).out
    assert "use 100ms or more" in system("server watch jetstream --every 1ms", status=64).err
