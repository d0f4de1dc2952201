"""Keys with their values, as ratios to the peer in one run: `python tests/bench/kv.py [--keys N] [--size B]`.

Each line is the best of some rounds. The peer's binary is taken from JSCTL_BENCH_NATS; without it only our
own are shown. Aim: 100,000 keys listed with their values in under 3 s.
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
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv.config import BUCKET
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from tests.bench.startup import JSCTL, measure
from tests.support.servers import RealServer, many_accounts

AIM = 3.0
LINES = {
    "kv ls": ["kv", "ls", "B"],
    "kv ls --verbose": ["kv", "ls", "B", "--verbose"],
    "kv ls --verbose --display-value": ["kv", "ls", "B", "--verbose", "--display-value"],
    "kv get B k.5000": ["kv", "get", "B", "k.5000"],
}
OURS = {
    "kv get B '>' --json": ["kv", "get", "B", ">", "--json"],
    "kv export": ["kv", "export", "B"],
    "kv diff B B": ["kv", "diff", "B", "B"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=100, help="bytes of a value")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            asyncio.run(fill(url, args.keys, args.size))
            report(url, args.keys, args.rounds, folder)
        finally:
            server.stop()


async def fill(url: str, keys: int, size: int) -> None:
    """A bucket with this many keys."""
    connection = await Connection.open(Settings(url=url))
    await buckets.create(Api(connection), BUCKET.with_defaults({"name": "B"}))
    value = b"v" * size
    for start in range(0, keys, 5000):
        *rest, last = [f"$KV.B.k.{number}" for number in range(start, min(start + 5000, keys))]
        await connection.send(b"".join(encode_publish(subject, value) for subject in rest))
        await connection.request(last, value)
    await connection.close()


def report(url: str, keys: int, rounds: int, folder: str) -> None:
    peer = os.environ.get("JSCTL_BENCH_NATS")
    lines = {f"jsctl {name}": [JSCTL, "--server", url, *line] for name, line in (LINES | OURS).items()}
    # The peer asks for every key by itself where values are shown, which takes minutes.
    slow = ("--verbose",)
    if peer:
        lines |= {
            f"nats {name}": [peer, "--server", url, *line]
            for name, line in LINES.items()
            if keys <= 20_000 or not set(line) & set(slow)
        }
    walls = measure(lines, rounds, folder)
    print(f"{keys:,} keys")
    for name, wall in walls.items():
        own = walls.get("nats" + name.removeprefix("jsctl"))
        ratio = f"  {wall / own:.2f} of nats" if own and name.startswith("jsctl") else ""
        over = "  over the aim of 3 s" if wall > AIM and name.startswith("jsctl") else ""
        print(f"  {name:<45} {wall:6.2f} s{ratio}{over}")


if __name__ == "__main__":
    main()
