"""Messages a second, beside the peer in one run: `python tests/bench/messages.py [--rounds N]`.

Each number is the best of N runs, taken in turn, start-up and all; a ratio above 1 is in our favour. The
peer's binary is taken from JSCTL_BENCH_NATS and left out where that is not set.

What limits: `pub` the server, which shares the cores; the peer waits for the server at each message. `sub`
one core of Python: of a stream, 2 µs of processor time to cut a message out and hand it over, and 3 µs
more to lay it out as text (not with --raw); with --direct 10 µs more for the headers of each reply; the peer
spreads its work over cores, so a busy machine hurts us more. A start of jsctl is 0.1 s of processor time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.support import js
from tests.support.servers import RealServer, many_accounts

JSCTL = str(Path(sys.executable).parent / "jsctl")
COUNT = 100_000
BODY = "x" * 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    peer = os.environ.get("JSCTL_BENCH_NATS", "")
    tools = {"jsctl": JSCTL} | ({"nats": peer} if peer else {})
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            js.stream(url, "S", "s.>", allow_direct=True)
            js.stream(url, "T", "t.>")
            run([JSCTL, "-s", url, "pub", "s.a", BODY, "--count", str(COUNT), "-J"], folder)
            for name, work in works(url, folder).items():
                # The peer's --direct asks for one message a request, and takes minutes.
                chosen = {"jsctl": JSCTL} if "--direct" in name else tools
                best = dict.fromkeys(chosen, float("inf"))
                for _ in range(rounds):
                    for tool, binary in chosen.items():
                        best[tool] = min(best[tool], work([binary, "-s", url]))
                report(name, best)
        finally:
            server.stop()


def works(url: str, home: str) -> dict[str, Callable[[list[str]], float]]:
    """What is timed, by name: given the start of a command line, it returns seconds."""

    def timed(*words: str) -> Callable[[list[str]], float]:
        def work(start: list[str]) -> float:
            began = time.perf_counter()
            run([*start, *words], home)
            return time.perf_counter() - began

        return work

    def subscribed(start: list[str]) -> float:
        count = ["--count", str(COUNT)]
        process = subprocess.Popen(
            [*start, "sub", "c.>", *count],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(home),
        )
        time.sleep(1)  # it has subscribed; its start is left out
        began = time.perf_counter()
        run([JSCTL, "-s", url, "pub", "c.a", BODY, *count], home)
        process.wait()
        return time.perf_counter() - began

    everything = ("sub", "--stream", "S", "--all", "--count", str(COUNT))
    return {
        "pub --count": timed("pub", "c.a", BODY, "--count", str(COUNT)),
        "pub -J --count": timed("pub", "t.a", BODY, "--count", str(COUNT), "-J"),
        "sub (with our pub)": subscribed,
        "sub --stream S --all": timed(*everything),
        "sub --stream S --all --raw": timed(*everything, "--raw"),
        "sub --stream S --all --direct": timed(*everything, "--direct"),
    }


def run(line: list[str], home: str) -> None:
    subprocess.run(
        line,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        env=environment(home),
        timeout=300,
    )


def report(name: str, best: dict[str, float]) -> None:
    rates = {tool: COUNT / seconds for tool, seconds in best.items()}
    text = "   ".join(f"{tool} {rate:>9,.0f}/s" for tool, rate in rates.items())
    ratio = f"   ratio {rates['jsctl'] / rates['nats']:.2f}" if "nats" in rates else ""
    print(f"{name:32}{text}{ratio}", flush=True)


if __name__ == "__main__":
    main()
