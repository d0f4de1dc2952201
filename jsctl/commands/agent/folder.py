"""The folder of an agent, and its start (see jsctl.agent)."""

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from errno import ECONNREFUSED
from pathlib import Path

from jsctl.errors import JsctlError

VARIABLE = "JSCTL_AGENT"
"""The variable with the path of the agent's socket."""

SOCKET, PROCESS, SHELL = "socket", "process", "shell"
"""Files in the folder of an agent: its socket, and those with its process id and that of its shell."""

PREFIX = "jsctl-agent-"
"""How the name of the folder begins."""

_FLAGS = {
    "-I": "isolated",
    "-E": "ignore_environment",
    "-P": "safe_path",
    "-s": "no_user_site",
    "-Xutf8": "utf8_mode",
}
"""Flags of this interpreter that the agent needs, too: it serves calls with the same ones only."""

_LONGEST = 80  #: bytes of a folder's path: that of a socket has at most 103


def make_folder() -> Path:
    """Make the folder of an agent, which only this user may enter."""
    parent = tempfile.gettempdir() if len(os.fsencode(tempfile.gettempdir())) < _LONGEST else "/tmp"
    _remove_left(Path(parent))
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))


def _remove_left(parent: Path) -> None:
    """Remove the folders of this user's agents that were killed: nobody listens at their sockets."""
    for file in parent.glob(f"{PREFIX}*/{PROCESS}"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.setblocking(False)  # one that is stopped and has many callers is alive, too
            is_ours = file.stat().st_uid == os.geteuid()
            if is_ours and probe.connect_ex(str(file.parent / SOCKET)) == ECONNREFUSED:
                shutil.rmtree(file.parent, ignore_errors=True)


def start_agent(folder: Path, *args: str, stdin: int) -> subprocess.Popen[bytes]:
    """Start the agent of a folder, and wait until it serves."""
    words = [sys.executable, *(flag for flag, name in _FLAGS.items() if getattr(sys.flags, name)), "-c"]
    # Modules come from where those of this process do: with -m, also from the current folder.
    begin = f"import sys; sys.path[:] = {sys.path!r}; from jsctl.agent.server import main; main()"
    words += [begin, str(folder), *args]
    agent = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=stdin, stderr=subprocess.DEVNULL)
    if not agent.stdout or not agent.stdout.readline():
        raise JsctlError("the agent did not start", f"{shlex.join(words)} says why")
    agent.stdout.close()
    return agent
