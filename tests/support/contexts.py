"""Context files as they are on disk."""

import json
from pathlib import Path
from typing import Any

from tests.support.run import Cli

SECRET = "Tr0ub4dor"


def stored(cli: Cli, name: str) -> dict[str, Any]:
    """Return the JSON of a context file."""
    document: dict[str, Any] = json.loads((cli.home / "nats" / "context" / f"{name}.json").read_text())
    return document


def write(cli: Cli, name: str, text: str) -> Path:
    """Write a context file, and return its path."""
    path = cli.home / "nats" / "context" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
