"""`consumer next`, beside the peer in one run: `python tests/bench/consumers.py [--count N] [--rounds N]`.

Messages a second, the best of N runs taken in turn, start-up and all; a ratio above 1 is in our favour, and
the aim is 5. Every message is acknowledged; we also wait until the server has confirmed that, the peer does
not. The peer's binary is taken from JSCTL_BENCH_NATS and left out where that is not set.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.messages import BODY, JSCTL, run
from tests.support import js
from tests.support.servers import RealServer, many_accounts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    peer = os.environ.get("JSCTL_BENCH_NATS", "")
    tools = {"jsctl": JSCTL} | ({"nats": peer} if peer else {})
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            js.stream(url, "S", "s.>")
            js.publish_all(url, (("s.a", BODY.encode()) for _ in range(args.count)))
            for words in (("--ack",), ("--ack", "--raw")):
                best = dict.fromkeys(tools, float("inf"))
                for number in range(args.rounds):
                    for tool, binary in tools.items():
                        name = f"{tool}{number}{len(words)}"
                        run([JSCTL, "-s", url, "consumer", "add", "S", name, "--pull", "--defaults"], folder)
                        line = [binary, "-s", url, "consumer", "next", "S", name, *words]
                        began = time.perf_counter()
                        run([*line, "--count", str(args.count)], folder)
                        best[tool] = min(best[tool], time.perf_counter() - began)
                report(f"consumer next {' '.join(words)}", args.count, best)
        finally:
            server.stop()


def report(name: str, count: int, best: dict[str, float]) -> None:
    text = "   ".join(f"{tool} {count / seconds:>8,.0f}/s" for tool, seconds in best.items())
    ratio = f"   ratio {best['nats'] / best['jsctl']:.1f}" if "nats" in best else ""
    print(f"{name:28}{text}{ratio}", flush=True)


if __name__ == "__main__":
    main()
