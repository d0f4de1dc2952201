"""Demos of jsctl in processes of their own, which are stopped whatever becomes of the test."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar


class DemoProcesses:
    """Runs of `jsctl` in the folder `work`, with contexts below `home` and settings that no demo may
    follow."""

    def __init__(self, home: Path, work: Path, variables: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.work = work
        self.work.mkdir()
        self.processes: list[subprocess.Popen[str]] = []
        self.environ = {**os.environ, "XDG_CONFIG_HOME": str(home / "config"), **(variables or {})}
        self.environ |= {"NATS_URL": "nats://127.0.0.1:1", "NATS_CONTEXT": "nowhere"}

    def start(self, *args: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "jsctl", *args],
            cwd=self.work,
            env={**self.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def run(self, *args: str, status: int = 0, environ: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Run a command to its end; return stdout and stderr."""
        process = self.start(*args, environ=environ)
        out, err = process.communicate(timeout=600)
        assert process.returncode == status, out + err
        return out, err


D = TypeVar("D", bound=DemoProcesses)


@contextmanager
def ending(demo: D) -> Iterator[D]:
    """Terminate at the end the processes that a test left running."""
    try:
        yield demo
    finally:
        for process in demo.processes:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)
