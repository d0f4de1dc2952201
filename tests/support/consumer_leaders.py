"""Leaders of consumers in a cluster."""

from tests.support.run import Cli


def leader(cli: Cli, name: str) -> str:
    """Return the leader of a consumer of stream R, or nothing."""
    outcome: str = cli(f"consumer info R {name} --json", status=0).json["cluster"].get("leader", "")
    return outcome
