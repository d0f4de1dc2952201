"""What tests of backups of accounts share."""

from tests.support.run import Cli


def remove_all(cli: Cli) -> None:
    for name in cli("stream ls --all --json", status=0).json:
        cli(f"stream rm {name} --force", status=0)


def statuses(rows: list[dict[str, str]]) -> dict[str, str]:
    return {row["stream"]: row["status"] for row in rows}
