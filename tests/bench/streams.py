"""Lists of many streams, as ratios to the peer in one run: `python tests/bench/streams.py [--streams N]`.

Each line is the best of some rounds, in turn with the others. The peer's binary is taken from
JSCTL_BENCH_NATS; without it only our own times are shown. Aims: with 10,000 streams at most 0.6 times the
peer's wall, with 1,000 at most twice.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.client import Connection
from tests.bench.startup import JSCTL, measure
from tests.support.servers import RealServer, many_accounts

AT_ONCE = 64
LINES = {
    "stream ls": ["stream", "ls"],
    "stream ls --names": ["stream", "ls", "--names"],
    "stream report": ["stream", "report"],
}
AIMS = {1_000: 2.0, 10_000: 0.6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, action="append", help="1000 and 10000 when left out")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            for number, count in enumerate(asked.streams or AIMS):
                url = server.url_for(f"t{number}")
                asyncio.run(create(url, count))
                report(count, measure(commands(url), asked.rounds, folder))
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
    found = {}
    for name, words in LINES.items():
        found[f"jsctl {name}"] = [JSCTL, "-s", url, "--as", "table", *words]
        if peer:
            found[f"nats {name}"] = [peer, "-s", url, *words]
    return found


def report(count: int, best: dict[str, float]) -> None:
    aim = f", aim at most {AIMS[count]}" if count in AIMS else ""
    print(f"{count:,} streams{aim}")
    for name in LINES:
        ours, theirs = best[f"jsctl {name}"], best.get(f"nats {name}")
        ratio = f"{theirs * 1000:8.0f} ms  ratio {ours / theirs:.2f}" if theirs else ""
        print(f"  {name:20} {ours * 1000:8.0f} ms {ratio}")


if __name__ == "__main__":
    main()
