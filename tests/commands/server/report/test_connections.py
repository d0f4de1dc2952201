"""`server report connections`."""

from tests.support.run import Cli
from tests.support.tables import read_table


def test_a_wrong_expression(system: Cli) -> None:
    outcome = system("server report connections --filter 'in_msgs >'", status=64)
    assert len(outcome.err.splitlines()) == 1


def test_what_cannot_be_compared(system: Cli) -> None:
    refused = system("server report connections --filter 'uptime > 1000'", status=64).err
    assert "--filter 'uptime > 1000': cannot compare '" in refused and refused.count("\n") == 1


def test_none(system: Cli) -> None:
    line = "server report connections --account NOPE"
    assert "the servers have no such connections" in system(line, status=0).out
    assert "the servers have no such connections" in system(f"compat -- {line}", status=1).err


def test_connections(system: Cli) -> None:
    rows = system("server report connections --account SYS --json", status=0).json
    assert rows and {row["account"] for row in rows} == {"SYS"}
    assert all(row["server"]["id"].startswith("N") and row["server"]["ver"] for row in rows)
    assert any("$SYS" in subject for row in rows for subject in row.get("subscriptions_list", ()))
    assert "Top 1 Connections out of" in system("server report connections --top 1", status=0).out


def test_connections_per_server(system: Cli) -> None:
    shown = system("server report connections", status=0).out
    *rows, _ = read_table(shown, "Top ")
    counts = {row["Server"]: int(row["Connections"]) for row in read_table(shown, "Connections per Server")}
    assert set(counts) == {"hub-server", "leaf-server"}
    assert sum(counts.values()) == len(rows) and f"Top {len(rows)} Connections" in shown
    csv = system("server report connections --as csv", status=0)
    assert csv.out.startswith("cid,") and "hub-server," in csv.out and not csv.err
