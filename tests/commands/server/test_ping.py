"""`server ping`."""

from tests.support.run import Cli


def test_ping(system: Cli) -> None:
    rows = system("server ping --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(0 < row["rtt_ns"] < 10**10 for row in rows)
    shown = system("server ping 2 --id --graph", status=0).out
    assert "2 replies, max: " in shown
    assert rows[0]["id"] in shown
    assert "2 of 3 servers answered" in system("server ping 3", status=1).err
