"""`export stream` without Spark and with it, as ratios in one run: `python tests/bench/engines.py`.

The whole command, from the shell to its end, for three sizes of a stream of messages of 200 bytes (aim: with
`--engine arrow` a third of the wall time for 1,000,000 messages).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment, start_server
from tests.bench.spark import fill


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder))
        try:
            fill(server.url, args.messages, b"x" * 200)
            for count in (args.messages // 100, args.messages // 10, args.messages):
                times: dict[str, list[float]] = {"arrow": [], "spark": []}
                for number in range(args.rounds):
                    for engine, seconds in times.items():
                        to = Path(folder) / f"{engine}-{count}-{number}"
                        seconds.append(export(server.url, to, engine, count))
                arrow, spark = (statistics.median(seconds) for seconds in times.values())
                ratio = f"{spark / arrow:.1f} times"
                print(f"{count:10,} messages: arrow {arrow:5.1f} s, Spark {spark:5.1f} s, {ratio}")
        finally:
            server.stop()


def export(url: str, to: Path, engine: str, count: int) -> float:
    """Return the seconds of an export of as many messages."""
    words = ["--server", url, "export", "stream", "S", "--to", str(to), "--engine", engine]
    begin = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "jsctl", *words, "--to-seq", str(count)],
        check=True,
        capture_output=True,
        env=environment(to.parent),
    )
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
