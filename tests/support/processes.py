"""Which processes run, and waiting for what they do."""

import os
import signal
import subprocess
from contextlib import suppress
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


def suspend(pid: int) -> None:
    """Stop a child process (SIGSTOP), and wait until none of its threads runs."""
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)


def is_connected(pid: int) -> bool:
    """Whether a process has a TCP connection."""
    links = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            links.append(str(file.readlink()))
    return any(f"socket:[{fields[9]}]" in links for fields in _read_connections())


def unread_bytes(port: int) -> int:
    """Return how many bytes were sent to a port of this host that its process has not read yet."""
    fields = [one for one in _read_connections() if one[1].endswith(f":{port:04X}")]
    return sum(int(one[4].split(":")[1], 16) for one in fields)


def _read_connections() -> list[list[str]]:
    """Return the fields of each TCP connection of this host, as `proc_net_tcp` of Linux describes them."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [fields for fields in lines if fields[3] == "01"]
