"""Backup and restore of a stream, as ratios taken in one run: `python tests/bench/backup.py [--size 1GiB]`.

Each line is the best of N rounds, in turn with the others, so that a busy machine hurts all alike; with the
processor time and the memory of the process. The peer's binary is taken from JSCTL_BENCH_NATS and left out
where that is not set.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.base.units import parse_bytes
from tests.bench import environment
from tests.support.js import ask, publish_all, stream
from tests.support.servers import RealServer

JSCTL = str(Path(sys.executable).parent / "jsctl")
SERVER = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}", max_file: 100G }
"""
MESSAGE = 8192


class Cost(NamedTuple):
    """Seconds of wall time and of processor, and the most memory in KiB."""

    wall: float
    processor: float
    memory: int

    def least(self, other: "Cost") -> "Cost":
        """The lower of two, number by number."""
        return Cost(
            min(self.wall, other.wall),
            min(self.processor, other.processor),
            min(self.memory, other.memory),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1GiB", help="bytes in the stream")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--folder", help="where the store and the backups are, instead of the temporary folder"
    )
    args = parser.parse_args()
    tools = {"jsctl": JSCTL}
    if peer := os.environ.get("JSCTL_BENCH_NATS"):
        tools["nats"] = peer
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        server = RealServer(folder / "server", SERVER).start()
        try:
            count = parse_bytes(args.size) // MESSAGE
            stream(server.url, "BENCH", "bench.>")
            # Random data: nothing to compress, the most to carry.
            publish_all(server.url, ((f"bench.{n % 100}", os.urandom(MESSAGE)) for n in range(count)))
            best = measure(tools, server.url, folder, args.rounds)
            report(best, args.size, "stream", {"backup": 1.1, "restore": 1.1})
        finally:
            server.stop()


def measure(tools: dict[str, str], url: str, folder: Path, rounds: int) -> dict[str, Cost]:
    """The best costs of each tool and verb; `BENCH` is there before and after."""
    best: dict[str, Cost] = {}
    for _ in range(rounds):
        for tool, binary in tools.items():
            target = folder / f"backup-{tool}"
            shutil.rmtree(target, ignore_errors=True)
            costs = {"backup": run([binary, "-s", url, "stream", "backup", "BENCH", str(target)], folder)}
            ask(url, "STREAM.DELETE.BENCH")
            costs["restore"] = run([binary, "-s", url, "stream", "restore", str(target)], folder)
            for verb, cost in costs.items():
                key = f"{tool} stream {verb}"
                best[key] = cost.least(best.get(key, cost))
    return best


def run(command: list[str], home: Path) -> Cost:
    """What one process costs. Raises AssertionError when it fails."""
    started = time.perf_counter()
    with (home / "said").open("wb") as raised:
        process = subprocess.Popen(command, stdout=raised, stderr=raised, env=environment(home))
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (home / "said").read_text()
    memory = usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, memory)


def report(best: dict[str, Cost], size: str, noun: str, aims: dict[str, float]) -> None:
    """Print the costs, and each verb's ratio to the peer with its aim."""
    print(f"{size:22} {'wall s':>8} {'cpu s':>8} {'MiB':>6}")
    for name, cost in best.items():
        print(f"{name:22} {cost.wall:8.2f} {cost.processor:8.2f} {cost.memory / 1024:6.0f}")
    for verb, aim in aims.items():
        if peer := best.get(f"nats {noun} {verb}"):
            ratio = best[f"jsctl {noun} {verb}"].wall / peer.wall
            print(f"aim: {verb} / the peer's <= {aim}: {ratio:.2f}")


if __name__ == "__main__":
    main()
