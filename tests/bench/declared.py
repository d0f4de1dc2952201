"""Plans of many new streams: `python tests/bench/declared.py`.

Each line is the whole command, `apply --dry-run`, with its processor time (that of the server it tries the
plan on is included) and peak memory. Aims: 5,000 new streams in at most 4 s of both; twice as many take at
most 2.5 times as long; 50,000 are planned, in memory that grows with their number. With `--apply`, also how
long it takes to create 1,000, and to take them back.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.bench.startup import JSCTL
from tests.support.servers import RealServer, many_accounts

ALIKE = """label: bench
streams:
  - for: {{i: "0..{last}", j: 0..9}}
    name: S_{{{{i}}}}_{{{{j}}}}
    subjects: ["s.{{{{i}}}}.{{{{j}}}}.>"]
    max_age: 1d
"""


class Run(NamedTuple):
    """Seconds of wall and of processor time, peak memory in KB, the last line of the output."""

    wall: float
    cpu: float
    memory: int
    last: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, action="append", help="1000, 5000, 10000, 50000 when left out")
    parser.add_argument("--apply", action="store_true", help="also create 1,000, and take them back")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            before: Run | None = None
            for count in args.streams or (1_000, 5_000, 10_000, 50_000):
                alike = run(folder, server.url_for("t0"), ALIKE.format(last=count // 10 - 1), "--dry-run")
                show(f"{count:,} new streams of one shape", alike, before)
                before = alike
            each = run(folder, server.url_for("t0"), different(1_000), "--dry-run")
            show("1,000 new streams of 1,000 shapes", each, None)
            if args.apply:
                show("1,000 created", run(folder, server.url_for("t1"), ALIKE.format(last=99)), None)
                text = ALIKE.format(last=99) + "  - {name: Z, sources: [S_0_0], placement: {preferred: p}}\n"
                show("1,000 created and taken back", run(folder, server.url_for("t2"), text), None)
        finally:
            server.stop()


def different(count: int) -> str:
    """Return a file of streams that differ in a limit."""
    lines = (f"- {{name: S{n}, subjects: s.{n}, max_msgs: {n + 1}}}\n" for n in range(count))
    return "streams:\n" + "".join(lines)


def run(folder: str, url: str, text: str, *flags: str) -> Run:
    """Apply a file in a process of its own."""
    path = Path(folder, "streams.yaml")
    path.write_text(text)
    began = time.monotonic()
    process = subprocess.Popen(
        [JSCTL, "apply", "-f", str(path), "--server", url, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(folder),
        text=True,
    )
    last = ""
    for line in process.stdout or ():
        last = line.strip() or last
    _, _, used = os.wait4(process.pid, 0)  # with the processes that it has waited for
    return Run(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss, last)


def show(label: str, result: Run, before: Run | None) -> None:
    growth = f", {result.cpu / before.cpu:.1f} times the line before" if before else ""
    print(f"{label}: {result.wall:.2f} s, {result.cpu:.2f} s of processor time{growth}", end="")
    print(f", {result.memory / 1024:.0f} MB ({result.last})")


if __name__ == "__main__":
    main()
