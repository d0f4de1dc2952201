"""One-shot calls in a loop, plain and within an agent: `python tests/bench/agent.py [--calls N]`.

Each figure is the mean of a loop of a shell, wall and processor time, with the start of an agent; loops take
turns, and the best of three counts. The aim within an agent is 1.5 times the peer's, whose binary is taken
from JSCTL_BENCH_NATS and left out where that is not set.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.support.servers import RealServer, many_accounts

JSCTL = str(Path(sys.executable).parent / "jsctl")
LINES = (
    "pub orders.new hello",
    "kv get CONFIG key --raw",
    "kv put CONFIG key x",
    "stream info ORDERS --json",
    "stream ls --names",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        environ = {**environment(folder), "NATS_URL": server.url_for("t0")}
        try:
            for line in (
                "stream add ORDERS --subjects orders.> --defaults",
                "kv add CONFIG",
                "kv put CONFIG key x",
            ):
                subprocess.run([JSCTL, *line.split()], check=True, stdout=subprocess.DEVNULL, env=environ)
            for line in LINES:
                report(line, calls, environ)
        finally:
            server.stop()


def report(line: str, calls: int, environ: dict[str, str]) -> None:
    """Print ms per call of a line, of processor time in brackets, and how many times the peer's that is."""
    peer = os.environ.get("JSCTL_BENCH_NATS")
    loops = {
        "plain": build_loop(JSCTL, line, calls),
        "within an agent": [JSCTL, "agent", "run", "--", *build_loop(JSCTL, line, calls)],
        **({"nats": build_loop(peer, line, calls)} if peer else {}),
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in loops}
    for _ in range(3):
        for name, words in loops.items():
            spent[name].append(spend(words, environ))
    best = {
        name: [1000 * min(each) / calls for each in zip(*own, strict=True)] for name, own in spent.items()
    }
    base = best.get("nats", best["plain"])
    figures = (
        f"{name} {wall:.1f} ms ({used:.1f}), {wall / base[0]:.2f} ({used / base[1]:.2f})"
        for name, (wall, used) in best.items()
    )
    print(f"{line}: {'; '.join(figures)}", flush=True)


def spend(words: list[str], environ: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of a process, and those of processor time with what it has waited for."""
    began = time.perf_counter()
    process = subprocess.Popen(words, env=environ)
    _, process.returncode, used = os.wait4(process.pid, 0)
    assert not process.returncode, words
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def build_loop(program: str, line: str, calls: int) -> list[str]:
    """Return the words of a shell that calls a program in a loop."""
    call = shlex.join([program, *line.split()])
    return ["sh", "-c", f"i=0; while [ $i -lt {calls} ]; do {call} > /dev/null 2>&1; i=$((i+1)); done"]


if __name__ == "__main__":
    main()
