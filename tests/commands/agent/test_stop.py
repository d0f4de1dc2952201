"""`agent stop`; test_start.py has it with an agent."""

from tests.support.run import Cli


def test_stop_without_an_agent(offline_cli: Cli) -> None:
    outcome = offline_cli("agent stop", status=3)
    assert "this shell has no agent" in outcome.err
