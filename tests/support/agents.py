"""Agents, scripts within them, and what they leave."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

JSCTL = [sys.executable, "-m", "jsctl"]
LINE = f"{sys.executable} -m jsctl"


@contextlib.contextmanager
def running_agent() -> Iterator[str]:
    """Yield the path of the socket of an agent that runs meanwhile."""
    words = [*JSCTL, "agent", "run", "--", "sh", "-c", "echo $JSCTL_AGENT; read line"]
    script = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert script.stdin and script.stdout
    yield script.stdout.readline().strip()
    script.communicate("\n")
    assert script.returncode == 0


def run_script(script: str, folder: Path, *, shell: str = "sh", status: int = 0, agent: bool = True) -> str:
    """Run a script, within an agent or not, whose temporary files are in a folder. Returns what it prints."""
    file = folder / "script"
    file.write_text(script)
    words = [*JSCTL, "agent", "run", "--"] * agent + [shell, str(file)]
    environ = {**os.environ, "TMPDIR": str(folder), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    ended = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended
    return ended.stdout + ended.stderr


def list_leftovers(folder: Path) -> list[str]:
    """Return the folders of agents below a folder for temporary files, and the processes of agents there."""
    found = [str(path) for path in folder.glob("jsctl-agent-*")]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line and "agent.server" in line:
            found.append(line)
    return found
