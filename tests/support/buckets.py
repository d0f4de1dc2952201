"""Look at the values of a bucket."""

from tests.support.run import Cli


def operations(cli: Cli, key: str) -> list[str]:
    """Return what was done to a key of CONFIG, oldest first: PUT, DEL, PURGE."""
    return [one["operation"] for one in cli(["kv", "history", "CONFIG", key, "--json"], status=0).json]
