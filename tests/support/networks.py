"""Networks that `server network` starts in a data folder of their own."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jsctl.localserver import processes
from tests.support.run import Cli


class Networks:
    """jsctl with a data folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cli = Cli(home / "config")
        self.cli.environ["XDG_DATA_HOME"] = str(home / "data")

    def __call__(self, line: str, status: int = 0) -> str:
        outcome = self.cli(f"server network {line}", terminal_error=status == 0, status=status)
        return outcome.out + outcome.err

    def folder(self, name: str) -> Path:
        return self.home / "data" / "jsctl" / name

    def at(self, name: str, line: str, status: int = 0) -> str:
        """Run a command with the contexts of a network."""
        variables = self.cli(f"server network env {name} --json", status=0).json
        return self.cli(line, environ=variables, status=status).out

    def servers(self, name: str) -> dict[str, str]:
        """Return the status of each server of a network."""
        document = self.cli(f"server network status {name} --json").json
        return {server["server"]: server["status"] for server in document["servers"]}


@contextmanager
def networks_below(home: Path) -> Iterator[Networks]:
    """Yield the networks in a folder; kill their servers at the end."""
    yield Networks(home)
    for folder in (home / "data" / "jsctl").glob("*"):
        for process in processes.find_all(folder).values():
            os.kill(process.pid, signal.SIGKILL)
