"""Commands of the system that `jsctl shell` runs."""

import subprocess


def run_system(line: str) -> int:
    """Run a line in the system's shell. Returns its status."""
    return wait(subprocess.Popen(line, shell=True))


def wait(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process, which ctrl-C ends, too. Returns its status."""
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            continue
        return status if status >= 0 else 128 - status
