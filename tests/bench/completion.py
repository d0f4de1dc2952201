"""Completion of stream names: `python tests/bench/completion.py [--names 5000]`.

What bash calls when the tab key is pressed after `stream info s`, beside a Python that does nothing and one
that imports click. First without names of an earlier time, then with them. The aim is 0.12 s.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.support import js
from tests.support.servers import RealServer, many_accounts

JSCTL = str(Path(sys.executable).parent / "jsctl")
_ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=5000)
    count = parser.parse_args().names
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            for number in range(count):
                js.stream(url, f"s{number}", f"s{number}.>")
            measure(folder, url, count)
        finally:
            server.stop()


def measure(folder: str, url: str, count: int) -> None:
    """Print the times of a completion, and their ratios."""
    line = f"jsctl -s {url} stream info s"
    variables = {"COMP_LINE": line, "_JSCTL_COMPLETE": "bash_complete", "XDG_CACHE_HOME": f"{folder}/cache"}
    tab = {**environment(folder), **variables}
    nothing = [sys.executable, "-c", "pass"]
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(_ROUNDS):
        for path in Path(folder, "cache").glob("jsctl/names/*"):
            path.unlink()
        for what, words, variables in (
            ("python", nothing, tab),
            ("import click", [sys.executable, "-c", "import click"], tab),
            ("names, the first time", [JSCTL], tab),
            ("names, again", [JSCTL], tab),
        ):
            times.setdefault(what, []).append(spend(words, variables, count if words == [JSCTL] else 0))
    least = min(times["python"])[0]
    for what, each in times.items():
        walls, cpus = zip(*each, strict=True)
        print(
            f"{what:<22} {statistics.median(walls) * 1000:6.0f} ms, at least {min(walls) * 1000:4.0f} ms"
            f" ({min(walls) / least:4.1f} times python), {min(cpus) * 1000:4.0f} ms of processor"
        )


def spend(words: list[str], variables: dict[str, str], count: int) -> tuple[float, float]:
    """Return the seconds of a process that writes so many lines, and those of its processor time."""
    began = time.perf_counter()
    process = subprocess.Popen(words, env=variables, stdout=subprocess.PIPE)
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    assert len(lines) == count, f"{len(lines)} of {count} names"
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
