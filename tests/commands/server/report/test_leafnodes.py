"""`server report leafnodes`."""

from tests.support.run import Cli
from tests.support.waiting import wait_until


def test_leafnodes_and_health(system: Cli) -> None:
    rows = system("server report leafnodes --json", status=0).json
    assert {(row["server"], row["spoke"], row["account"]) for row in rows} == {
        (server, server == "leaf-server", account)
        for server in ("hub-server", "leaf-server")
        for account in ("ACC", "SYS")
    }
    expected = {("hub-server", "ok"), ("leaf-server", "ok")}  # once what other tests left is removed

    def health() -> set[tuple[str, str]]:
        rows = system("server report health --json").json
        return {(row["server"], row["status"]) for row in rows}

    wait_until(health, lambda found: found == expected)
