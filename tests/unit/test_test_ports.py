"""Ports of test servers."""

import subprocess
import sys
from pathlib import Path

from tests.support.servers import free_port

ROOT = Path(__file__).parents[2]
TAKE = "from tests.support.servers import free_port; print(*[free_port() for _ in range(2000)])"


def test_another_test_run_gets_none_of_our_ports() -> None:
    """Also while nothing listens on them, as between the death of a server and its next start."""
    ours = {free_port() for _ in range(2000)}
    line = [sys.executable, "-c", TAKE]
    theirs = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert len(theirs) == 2000 and not ours & {int(port) for port in theirs}
