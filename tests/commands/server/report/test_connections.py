"""`server report connections`."""

from tests.support.run import Cli


def test_a_wrong_expression(system: Cli) -> None:
    outcome = system("server report connections --filter 'in_msgs >'", status=64)
    assert len(outcome.err.splitlines()) == 1


def test_connections(system: Cli) -> None:
    rows = system("server report connections --account SYS --json", status=0).json
    assert rows and {row["account"] for row in rows} == {"SYS"}
    assert "Top 1 Connections out of" in system("server report connections --top 1", status=0).out
