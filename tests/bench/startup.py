"""Start-up, as ratios taken in one run: `python tests/bench/startup.py [--rounds N]`.

Each line is the best of N runs, in turn with the others, so that a busy machine hurts all alike.
The peer's binary is taken from JSCTL_BENCH_NATS and left out where that is not set.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.support.servers import RealServer, many_accounts

PYTHON = sys.executable
HOT = (
    "stream ls",
    "stream info ORDERS",
    "pub orders.new hello",
    "kv get CONFIG key",
    "kv put CONFIG key x",
    "consumer ls ORDERS",
    "server check stream --stream ORDERS",
)
"""What runs without an event loop."""
JSCTL = str(Path(PYTHON).parent / "jsctl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            for line in (
                "stream add ORDERS --subjects orders.> --defaults",
                "kv add CONFIG",
                "kv put CONFIG key x",
            ):
                subprocess.run([JSCTL, "-s", url, *line.split()], check=True, stdout=subprocess.DEVNULL)
            report(measure(lines(url), rounds, folder))
        finally:
            server.stop()


def lines(url: str) -> dict[str, list[str]]:
    """The command lines to time, by name."""
    results = {
        "python -c pass": [PYTHON, "-c", "pass"],
        "import click": [PYTHON, "-c", "import click"],
        "import click, nats": [PYTHON, "-c", "import click, nats"],
        "jsctl --help": [JSCTL, "--help"],
        "jsctl --version": [JSCTL, "--version"],
        "jsctl context ls": [JSCTL, "context", "ls"],
        **{f"jsctl {line}": [JSCTL, "-s", url, *line.split()] for line in HOT},
    }
    peer = os.environ.get("JSCTL_BENCH_NATS")
    if peer:
        results["nats stream ls"] = [peer, "-s", url, "stream", "ls"]
    return results


def measure(commands: dict[str, list[str]], rounds: int, home: str) -> dict[str, float]:
    """Best wall time in seconds of each command."""
    environ = environment(home)
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            null = subprocess.DEVNULL
            subprocess.run(command, stdin=null, stdout=null, stderr=null, check=True, env=environ)
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def report(best: dict[str, float]) -> None:
    click, client = best["import click"], best["import click, nats"]
    print(f"{'':28} {'ms':>7} {'/ click':>8} {'/ click+nats':>13}")
    for name, seconds in best.items():
        print(f"{name:28} {seconds * 1000:7.1f} {seconds / click:8.2f} {seconds / client:13.2f}")
    print(f"aim: --help / click <= 1.3: {best['jsctl --help'] / click:.2f}")
    for line in HOT:
        print(f"aim: {line} / click+nats <= 0.6: {best[f'jsctl {line}'] / client:.2f}")


if __name__ == "__main__":
    main()
