"""Outcomes of `server check`."""

from typing import Any

from tests.support.run import Cli


def check(cli: Cli, line: str, status: int = 0) -> dict[str, Any]:
    """Run a check, and return its outcome as JSON."""
    document: dict[str, Any] = cli(f"server check --format json {line}", status=status).json
    return document
