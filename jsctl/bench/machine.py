"""The processor time of a server that runs on this machine, as far as the system shows it."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from jsctl.base.units import SECOND

_PROC = Path("/proc")
_LISTENING = "0A"
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")


class ServerProcess:
    """A server's process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    @property
    def cpu(self) -> int:
        """The processor time taken so far in ns; 0 once the process has ended."""
        try:
            fields = (_PROC / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) * SECOND // os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0


def find_server(url: str) -> ServerProcess | None:
    """Return the process that listens at a URL; None on another machine, for another user's process, and when
    the system does not show it."""
    parts = urlsplit(url if "//" in url else f"nats://{url}")
    if not (parts.hostname or "").startswith(_LOOPBACK):
        return None
    try:
        sockets = _list_sockets(parts.port or 4222)
        return _find_owner(sockets) if sockets else None
    except (OSError, ValueError):
        return None


def _list_sockets(port: int) -> set[str]:
    """Return the links of the descriptors of the listening sockets."""
    sockets = set()
    for table in ("tcp", "tcp6"):
        path = _PROC / "net" / table
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            words = line.split()
            if words[3] == _LISTENING and int(words[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{words[9]}]")
    return sockets


def _find_owner(sockets: set[str]) -> ServerProcess | None:
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            links = [str(entry.readlink()) for entry in (folder / "fd").iterdir()]
        except OSError:
            continue  # another user's, or already ended
        if sockets.intersection(links):
            return ServerProcess(int(folder.name))
    return None
