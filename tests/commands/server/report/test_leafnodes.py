"""`server report leafnodes`."""

from tests.support.run import Cli


def test_leafnodes_and_health(system: Cli) -> None:
    rows = system("server report leafnodes --json", status=0).json
    assert {(row["server"], row["spoke"], row["account"]) for row in rows} == {
        (server, server == "leaf-server", account)
        for server in ("hub-server", "leaf-server")
        for account in ("ACC", "SYS")
    }
    health = system("server report health --json", status=0).json
    assert {(row["server"], row["status"]) for row in health} == {("hub-server", "ok"), ("leaf-server", "ok")}
