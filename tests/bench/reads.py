"""Reading a stream in bulk: messages for each second of processor time of the client, its memory, and what a
search costs those who publish: `python tests/bench/reads.py [--count N] [--rounds N]`.

Processor time is user and system time of the whole command without that of the server, so that other programs
disturb it little; the best of N rounds, taken in turn. The peer (JSCTL_BENCH_NATS) has `stream view`, one
message a request, and no search: it is measured by `sub --stream`.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.contexts.settings import Settings
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from tests.bench import environment, start_server
from tests.support import js

JSCTL = str(Path(sys.executable).parent / "jsctl")
SEARCH = ("stream", "search", "S", "--match")
READS = {
    "search, subject": (*SEARCH, 'subject == "s.x"'),
    "search, header": (*SEARCH, 'headers.Region == "asia"'),
    "search, JSON field": (*SEARCH, "order == -1"),
    "view --raw": ("stream", "view", "S", "--raw"),
    "view": ("stream", "view", "S"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    count, peer = options.count, os.environ.get("JSCTL_BENCH_NATS", "")
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder))
        url = f"nats://127.0.0.1:{server.port}"
        try:
            js.stream(url, "S", "s.>", allow_direct=True)
            js.stream(url, "P", "p.>")
            asyncio.run(fill(url, count))
            sub = ("sub", "--stream", "S", "--all", "--count", str(count))
            lines = {name: [JSCTL, "-s", url, *words] for name, words in READS.items()}
            lines |= {"sub --stream": [JSCTL, "-s", url, *sub]}
            lines |= {"sub --stream --raw": [JSCTL, "-s", url, *sub, "--raw"]}
            lines |= {"nats sub --stream": [peer, "-s", url, *sub]} if peer else {}
            best = dict.fromkeys(lines, (float("inf"), 0.0))
            for _ in range(options.rounds):
                for name, line in lines.items():
                    best[name] = min(best[name], measure(line, folder))
            for name, (seconds, size) in best.items():
                print(f"{name:22}{count / seconds:>10,.0f} per second of a core   {size:.0f} MiB", flush=True)
            for name, rate in {"no search": None, "a search": 0, "--max-rate 20000": 20_000}.items():
                print(f"{name:22}{asyncio.run(publish_beside(url, folder, rate))}", flush=True)
        finally:
            server.stop()


def start(line: list[str], home: str) -> "subprocess.Popen[bytes]":
    """Start a command whose output nobody reads."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(line, stdout=quiet, stderr=quiet, env=environment(home))


def measure(line: list[str], home: str) -> tuple[float, float]:
    """Run a command. Returns its processor time in seconds, and its memory in MiB."""
    process = start(line, home)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, line
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


async def fill(url: str, count: int) -> None:
    """Store messages of 200 bytes and two headers."""
    connection = await Connection.open(Settings(url=url))
    for first in range(0, count, 2000):
        frames = []
        for n in range(first, min(first + 2000, count)):
            document = {"order": n, "country": ("nl", "de")[n % 2], "customer": {"name": f"c{n % 97}"}}
            body = json.dumps({**document, "text": "x" * 200})[:198] + '"}'
            header = encode_headers([("Trace", f"t{n}"), ("Region", ("eu", "us")[n % 2])])
            frames.append(encode_publish(f"s.{n % 10}", body.encode(), "", header))
        await connection.send(b"".join(frames))
        await connection.request("$JS.API.STREAM.INFO.S", timeout=60 * 10**9)
    await connection.close()


async def publish_beside(url: str, home: str, rate: int | None) -> str:
    """Publish for some seconds, one message after the ack of the last, beside a search. rate: its --max-rate,
    None for no search."""
    line = [JSCTL, "-s", url, *READS["search, subject"], "--max-rate", str(rate)]
    search = None if rate is None else start(line, home)
    connection = await Connection.open(Settings(url=url))
    latencies, end = [], time.perf_counter() + 4
    while (began := time.perf_counter()) < end and (search is None or search.poll() is None):
        await connection.request("p.a", b"x" * 200)
        latencies.append(time.perf_counter() - began)
    await connection.close()
    if search:
        search.kill()
        search.wait()
    latencies.sort()
    p50, p99 = (latencies[int(len(latencies) * part)] * 1000 for part in (0.5, 0.99))
    return f"{len(latencies):>8,} acks, p50 {p50:.2f} ms, p99 {p99:.2f} ms"


if __name__ == "__main__":
    main()
