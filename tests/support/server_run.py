"""`jsctl server run` as a process."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.run import Cli


class Run:
    """`jsctl server run ...` as a process of its own, with folders of its own."""

    def __init__(self, home: Path, *args: str, environ: dict[str, str] | None = None) -> None:
        self.home = home
        self.environ = {**os.environ, "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
        for name in [name for name in self.environ if name.startswith("NATS_")]:
            del self.environ[name]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jsctl", "--json", "server", "run", *args],
            env={**self.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: dict[str, Any] = {}

    def ready(self) -> dict[str, Any]:
        """Return the JSON that the command prints once the servers answer."""
        assert self.process.stdout
        text = ""
        for line in self.process.stdout:
            text += line
            with contextlib.suppress(ValueError):
                self.said = json.loads(text)
                return self.said
        raise AssertionError(self.end())

    def end(self) -> tuple[int, str]:
        """Wait for the end; return exit status and stderr."""
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err

    @property
    def pids(self) -> list[int]:
        return [server["pid"] for server in self.said["servers"]]

    def cli(self) -> Cli:
        return Cli(self.home)


def fails(run: Run, status: int = 1) -> str:
    """Return the error of a run that cannot start, and its hint."""
    code, err = run.end()
    assert code == status, err
    failure = json.loads(err)
    assert failure["status"] == status
    return "; ".join(filter(None, (failure["error"], failure.get("hint"))))
