"""Outcomes of `server check`."""

from tests.support.run import Cli


def check(cli: Cli, line: str, status: int = 0) -> dict[str, object]:
    """Run a check, and return its outcome as JSON."""
    document: dict[str, object] = cli(f"server check --format json {line}", status=status).json
    return document
