"""An object up and down, as ratios taken in one run: `python tests/bench/objects.py [--size 1GiB]`.

Each line is the best of N rounds, in turn with the others, so that a busy machine hurts all alike; with the
processor time and the memory of the process. The peer's binary is taken from JSCTL_BENCH_NATS and left out
where that is not set.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.base.units import parse_bytes
from tests.bench.backup import JSCTL, SERVER, Cost, report, run
from tests.support.servers import RealServer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1GiB", help="bytes of the object")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the store and the files are, instead of the temporary folder")
    args = parser.parse_args()
    tools = {"jsctl": JSCTL}
    if peer := os.environ.get("JSCTL_BENCH_NATS"):
        tools["nats"] = peer
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        server = RealServer(folder / "server", SERVER).start()
        try:
            write_random(folder / "big", parse_bytes(args.size))
            best = measure(tools, server.url, folder, args.rounds)
            report(best, args.size, "object", {"put": 1.0, "get": 1.0})
        finally:
            server.stop()


def write_random(path: Path, size: int) -> None:
    """Write a file that nothing can compress."""
    with path.open("wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - start)))


def measure(tools: dict[str, str], url: str, folder: Path, rounds: int) -> dict[str, Cost]:
    """The best costs of each tool and verb."""
    best: dict[str, Cost] = {}
    source, target = str(folder / "big"), str(folder / "copy")
    for _ in range(rounds):
        for tool, binary in tools.items():
            start = [binary, "-s", url, "object"]
            run([*start, "add", "BENCH"], folder)
            lines = {
                "put": ["put", "BENCH", source, "--name", "big", "--no-progress", "--force"],
                "get": ["get", "BENCH", "big", "--output", target, "--no-progress", "--force"],
            }
            for verb, line in lines.items():
                cost = run([*start, *line], folder)
                key = f"{tool} object {verb}"
                best[key] = cost.least(best.get(key, cost))
            run([*start, "rm", "BENCH", "--force"], folder)
            Path(target).unlink()
    return best


if __name__ == "__main__":
    main()
