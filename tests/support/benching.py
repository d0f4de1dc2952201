"""Benchmarks in this process and in others; with few messages: what is done is looked at, not how fast."""

import signal
import subprocess
from pathlib import Path
from typing import Any

from jsctl.schema.catalog import load_schema
from jsctl.schema.validator import validate
from tests.support.run import Cli


def start(cli: Cli, line: str) -> subprocess.Popen[str]:
    """Start a benchmark in a process of its own."""
    return cli.start(["bench", *line.split()])


def stop(process: subprocess.Popen[str], number: int = signal.SIGINT) -> tuple[str, str]:
    """Send a signal to a benchmark, and return its stdout and stderr."""
    process.send_signal(number)
    return process.communicate(timeout=60)


def run(cli: Cli, line: str) -> dict[str, Any]:
    """Run a benchmark, and return its document."""
    document: dict[str, Any] = cli(f"bench {line} --json", status=0).json
    assert not validate(document, load_schema("io.jsctl.v1.bench"))
    return document


def workers(cli: Cli) -> list[str]:
    """Return the process ids of this test's benchmark workers, as text."""
    marked = f"HOME={cli.home}".encode()
    pids = []
    for folder in Path("/proc").iterdir() if Path("/proc").exists() else []:
        try:
            if (
                b"jsctl.bench.worker" in (folder / "cmdline").read_bytes()
                and marked in (folder / "environ").read_bytes()
            ):
                pids.append(folder.name)
        except OSError:
            continue
    return pids
