"""What tests of backups of accounts share."""

from tests.support.run import Cli


def remove_all(cli: Cli) -> None:
    """Remove all streams of the account."""
    for name in cli("stream ls --all --json", status=0).json:
        cli(f"stream rm {name} --force", status=0)


def statuses(rows: list[dict[str, str]]) -> dict[str, str]:
    """Return the status of each stream in the rows of a report."""
    return {row["stream"]: row["status"] for row in rows}
