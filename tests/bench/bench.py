"""What `jsctl bench` measures, beside the peer in one run: `python tests/bench/bench.py [--rounds N]`.

Each number is the best of N runs, taken in turn, as the tools report it themselves, without start-up; a ratio
above 1 is in our favour. The peer's binary is taken from JSCTL_BENCH_NATS and left out where that is not set.

Verbs that wait for each answer measure how long a process takes to send, to be woken and to read: the floor
for Python is shown below them, a loop that does nothing else, over a blocking socket and over asyncio.
"""

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench import environment
from tests.bench.backup import SERVER
from tests.support.servers import RealServer

JSCTL = [sys.executable, "-m", "jsctl"]
SIZE = ["--size", "128", "--no-progress"]
LINES = {
    "pub": ["pub", "b.core", "--msgs", "1000000"],
    "js pub async": ["js", "pub", "async", "js.bench", "--create", "--msgs", "200000"],
    "js pub batch": ["js", "pub", "batch", "js.bench", "--create", "--msgs", "200000"],
    "js pub fast": ["js", "pub", "fast", "js.bench", "--create", "--msgs", "200000"],
    "js ordered": ["js", "ordered", "--msgs", "200000"],
    "js consume": ["js", "consume", "--msgs", "200000", "--acks", "none"],
    "js fetch": ["js", "fetch", "--msgs", "200000", "--acks", "none"],
    "js get batch": ["js", "get", "batch", "--msgs", "200000"],
    "js pub sync": ["js", "pub", "sync", "js.bench", "--create", "--msgs", "10000"],
    "js get sync": ["js", "get", "sync", "--msgs", "10000"],
    "service request": ["service", "request", "b.service", "--msgs", "10000"],
    "kv put": ["kv", "put", "--msgs", "10000"],
    "kv get": ["kv", "get", "--msgs", "10000"],
}
READS = ("js ordered", "js consume", "js fetch", "js get batch", "js get sync", "kv get")
"""Verbs that take no --size, and read what others wrote."""
WRITERS = {"js": "js pub batch", "kv": "kv put"}
"""The verb that writes what a noun's verbs read."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="the verbs that have this in their name")
    args = parser.parse_args()
    peer = os.environ.get("JSCTL_BENCH_NATS", "")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = RealServer(folder / "server", SERVER).start()
        responder = subprocess.Popen(
            [*JSCTL, "-s", server.url, "bench", "service", "serve", "b.service"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(name),
        )
        try:
            for tool in ("jsctl", "nats"):
                subprocess.run(
                    [*JSCTL, "-s", server.url, "kv", "add", f"B-{tool}"], check=True, capture_output=True
                )
            chosen = [verb for verb in LINES if args.only in verb]
            for writer in {WRITERS[verb.split()[0]] for verb in chosen if verb in READS} - {*chosen}:
                ours(writer, server.url, name)
                theirs(peer, writer, server.url, name) if peer else None
            for verb in chosen:
                best = {"jsctl": 0.0, "nats": 0.0}
                for _ in range(args.rounds):
                    best["jsctl"] = max(best["jsctl"], ours(verb, server.url, name))
                    best["nats"] = max(best["nats"], theirs(peer, verb, server.url, name) if peer else 0)
                ratio = f"  {best['jsctl'] / best['nats']:5.2f} of nats" if best["nats"] else ""
                print(f"{verb:24} {best['jsctl']:12,.0f}/s  nats {best['nats']:12,.0f}/s{ratio}")
            for label, loop in (("a blocking socket", blocking), ("asyncio", with_asyncio)):
                rate = max(loop(server.url, 10_000) for _ in range(args.rounds))
                print(f"{'floor: ' + label:24} {rate:12,.0f}/s")
        finally:
            responder.terminate()
            responder.wait()
            server.stop()


def words(verb: str, tool: str) -> list[str]:
    """The line of a verb, after `bench`; each tool has a stream and a bucket of its own."""
    line = [word.replace("js.bench", f"js.{tool}") for word in LINES[verb]]
    place = {"js": ["--stream", f"S-{tool}"], "kv": ["--bucket", f"B-{tool}"]}.get(line[0], [])
    return [*line, *place, *(SIZE if verb not in READS else SIZE[2:])]


def ours(verb: str, url: str, home: str) -> float:
    """Messages a second, as jsctl measures them."""
    line = [*JSCTL, "-s", url, "bench", *words(verb, "jsctl"), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(home), check=False)
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["messages_per_second"])


def theirs(peer: str, verb: str, url: str, home: str) -> float:
    """Messages a second, as the peer measures them; 0 for a verb that it does not have."""
    line = [peer, "-s", url, "bench", *words(verb, "nats")]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(home), check=False)
    rates = re.findall(r"stats: ([\d,]+) msgs/sec", done.stdout)
    return float(rates[0].replace(",", "")) if done.returncode == 0 and rates else 0.0


CONNECT = b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB _INBOX.floor 1\r\n'
REQUEST = b"PUB $JS.API.DIRECT.GET.KV_B-jsctl.$KV.B-jsctl.0 _INBOX.floor 0\r\n\r\n"  #: as `bench kv get`


def blocking(url: str, count: int) -> float:
    """Requests a second, one after the other, over a blocking socket."""
    host, port = url.removeprefix("nats://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.recv(65536)
        connection.sendall(CONNECT + b"PING\r\n")
        while b"PONG" not in connection.recv(65536):
            pass
        began = time.perf_counter()
        for _ in range(count):
            connection.sendall(REQUEST)
            while not connection.recv(65536).endswith(b"\r\n"):
                pass
        return count / (time.perf_counter() - began)


def with_asyncio(url: str, count: int) -> float:
    """Requests a second, one after the other, over the streams of asyncio."""

    async def run() -> float:
        host, port = url.removeprefix("nats://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        await reader.readline()
        writer.write(CONNECT + b"PING\r\n")
        while b"PONG" not in await reader.readline():
            pass
        began = time.perf_counter()
        for _ in range(count):
            writer.write(REQUEST)
            while not (await reader.read(65536)).endswith(b"\r\n"):
                pass
        took = time.perf_counter() - began
        writer.close()
        return count / took

    return asyncio.run(run())


if __name__ == "__main__":
    main()
