"""Lists of many streams, as ratios to the peer in one run: `python tests/bench/streams.py [--streams N]`.

Each line is the best of some rounds, in turn with the others, and the peak memory of one more. The peer's
binary is taken from JSCTL_BENCH_NATS; without it only our own are shown. Aims: with 10,000 streams at most
0.6 times the peer's wall, with 1,000 at most twice; names, and what is found, in the memory of a page.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.nats.connection import Connection
from tests.bench import environment
from tests.bench.startup import JSCTL, measure
from tests.support.servers import RealServer, many_accounts

AT_ONCE = 64
LINES = {
    "stream ls": ["stream", "ls"],
    "stream ls --names": ["stream", "ls", "--names"],
    "stream report": ["stream", "report"],
    "stream find --json": ["stream", "find", "--empty", "--json"],
}
AIMS = {1_000: 2.0, 10_000: 0.6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, action="append", help="1000 and 10000 when left out")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            for number, count in enumerate(args.streams or AIMS):
                url = server.url_for(f"t{number}")
                asyncio.run(create(url, count))
                lines = commands(url)
                report(count, measure(lines, args.rounds, folder), peaks(lines, folder))
        finally:
            server.stop()


async def create(url: str, count: int) -> None:
    """Memory streams with a subject each, made through the raw API."""
    connection = await Connection.open(Settings(url=url))
    api, gate = Api(connection), asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with gate:
            name = f"ORDERS_{number:05}"
            config = {"name": name, "subjects": [f"orders.{number}.>"], "storage": "memory"}
            await api.call(f"STREAM.CREATE.{name}", {**config, "retention": "limits", "num_replicas": 1})

    try:
        await asyncio.gather(*(one(number) for number in range(count)))
    finally:
        await connection.close()


def commands(url: str) -> dict[str, list[str]]:
    """The command lines to time. Ours draws tables, as the peer does, though the output is no terminal."""
    peer = os.environ.get("JSCTL_BENCH_NATS")
    results = {}
    for name, words in LINES.items():
        form = [] if "--json" in words else ["--as", "table"]
        results[f"jsctl {name}"] = [JSCTL, "-s", url, *form, *words]
        if peer and "--json" not in words:  # its find knows no --json
            results[f"nats {name}"] = [peer, "-s", url, *words]
    return results


def peaks(commands: dict[str, list[str]], home: str) -> dict[str, int]:
    """Peak resident memory in MiB of each command, started by a small process: what starts it counts, too."""
    code = (
        "import os, subprocess as s, sys; p = s.Popen(sys.argv[1:], stdout=s.DEVNULL, stderr=s.DEVNULL);"
        "print(os.wait4(p.pid, 0)[2].ru_maxrss >> 10)"
    )
    results = {}
    for name, command in commands.items():
        environ = environment(home)
        results[name] = int(subprocess.check_output([sys.executable, "-c", code, *command], env=environ))
    return results


def report(count: int, best: dict[str, float], memory: dict[str, int]) -> None:
    aim = f", aim at most {AIMS[count]}" if count in AIMS else ""
    print(f"{count:,} streams{aim}")
    for name in LINES:
        ours, theirs = best[f"jsctl {name}"], best.get(f"nats {name}")
        print(f"  {name:20} {ours * 1000:8.0f} ms {memory[f'jsctl {name}']:4} MiB", end="")
        if theirs:
            print(
                f" {theirs * 1000:8.0f} ms {memory[f'nats {name}']:4} MiB  ratio {ours / theirs:.2f}", end=""
            )
        print()


if __name__ == "__main__":
    main()
