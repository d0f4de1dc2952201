"""Which processes run, and waiting for what they do."""

import subprocess
from pathlib import Path
from typing import NamedTuple


def alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.strip().startswith("Z")


def children(home: Path) -> list[str]:
    """Return the running processes with a path below `home` on their command lines."""
    done = subprocess.run(["ps", "-axww", "-o", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if str(home) in line]


class Process(NamedTuple):
    """A process that runs."""

    pid: int
    parent: int
    args: str


def in_session(leader: int) -> list[Process]:
    """Return the processes of a session: its leader, and all that it started."""
    done = subprocess.run(
        ["ps", "-axww", "-o", "pid=,ppid=,sess=,stat=,args="], capture_output=True, text=True, check=True
    )
    results = [line.split(None, 4) for line in done.stdout.splitlines()]
    return [
        Process(int(pid), int(parent), args)
        for pid, parent, session, state, args in results
        if session == str(leader) and not state.startswith("Z")
    ]
