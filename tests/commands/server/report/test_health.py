"""`server report health`."""

from tests.support.run import Cli


def test_health(system: Cli) -> None:
    rows = system("server report health --json", status=0).json
    assert {(row["server"], row["domain"], row["status"]) for row in rows} == {
        ("hub-server", "hub", "ok"),
        ("leaf-server", "leaf", "ok"),
    }
    assert "ok: 2 / err: 0" in system("server report health", status=0).out
    assert "100ms" in system("server report health --watch 1ms", status=64).err
