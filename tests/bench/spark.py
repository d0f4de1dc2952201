"""Streams into Spark, as ratios in one run: `python tests/bench/spark.py [--messages N] [--size BYTES]`.

What each stage costs (the server, the socket, cutting replies into columns, columns of Spark, Parquet as
pyarrow writes it), and how much faster 1 % of the subjects are read than all.

The reader by itself beside a bare socket loop that asks the same and only counts (aim: 55 %); to Parquet with
two tasks beside a reader with nats-py's fetch (aim: 250,000 a second, five times as fast); the time until a
publisher has its ack while an export runs (aim: 99 of 100 below 20 ms); the most memory that driver, JVM and
workers take to export all messages and a quarter of them (aim: the same). All of it shares the machine.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

import nats
import pyarrow as pa
import pyarrow.parquet as pq
from nats.js.api import AckPolicy, ConsumerConfig

from jsctl.contexts.settings import Settings
from jsctl.nats.connection import Connection
from jsctl.spark.source.columns import to_spark_batch
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.direct import DirectReader
from jsctl.spark.source.payload_options import COLUMNS
from jsctl.spark.source.range_reader import ReadJob
from tests.bench import start_server
from tests.support import js
from tests.support.processes import in_session

BATCH = 1000
END = b"NATS/1.0 204"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=200, help="bytes")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder))
        try:
            fill(server.url, args.messages, b"x" * args.size)
            assert server.process is not None
            measure(server.url, server.process.pid, args.messages, args.rounds, Path(folder))
        finally:
            server.stop()


def fill(url: str, count: int, payload: bytes) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.stream(url, "P", "P.>", allow_direct=True)
    js.publish_all(url, (("S.a", payload) for _ in range(count)))
    while js.info(url, "S")["state"]["messages"] < count:
        time.sleep(0.1)


def measure(url: str, server: int, count: int, rounds: int, folder: Path) -> None:
    some = max(BATCH, count // 10)  # the slow one gets a tenth
    idle = latencies(url, threading.Event(), seconds=2)
    best = {"bare socket loop": 0.0, "reader": 0.0, "nats-py's fetch": 0.0}
    works: dict[str, Callable[[], float]] = {
        "bare socket loop": lambda: count / timed(lambda: bare(url, count)),
        "reader": lambda: count / timed(lambda: reader(url, count)),
        "nats-py's fetch": lambda: some / timed(lambda: asyncio.run(fetch(url, some))),
    }
    cores: dict[str, str] = {}
    for _ in range(rounds):
        for name, work in works.items():
            theirs, ours = cpu(server), time.process_time()
            best[name] = max(best[name], work())
            theirs, ours = cpu(server) - theirs, time.process_time() - ours
            cores[name] = (
                f"CPU of the server {theirs / count * 1e6:.1f} us, of the client {ours / count * 1e6:.1f}"
            )
    best["to Parquet"] = count / to_parquet(url, count, folder, rounds)
    for name, rate in best.items():
        print(f"{name:18} {rate:10,.0f} messages a second")
    print(f"reader to bare socket loop: {best['reader'] / best['bare socket loop']:.0%} (aim 55%)")
    # What limits it: server and client share two cores. Were both always busy, a message would take half the
    # sum.
    for name in ("bare socket loop", "reader"):
        print(f"a message in the {name}: {cores[name]}")
    stages(url, server, count)
    filtered(url, server, count)
    ratio = best["to Parquet"] / best["nats-py's fetch"]
    print(f"to Parquet to nats-py's fetch: {ratio:.1f} times (aim 5, and 250,000 a second)")
    busy, whole = during_export(url, folder, count)
    _, quarter = during_export(url, folder, count // 4)
    print(f"ack p99: {p99(idle):.1f} ms idle, {p99(busy):.1f} ms during an export (aim 20)")
    for kind, most in whole.items():
        print(f"memory of {kind:6} {most:6.0f} MiB, {most / quarter[kind]:.2f} times a quarter's (aim 1)")


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def bare(url: str, count: int) -> None:
    """Two requests in flight, answers thrown away; only the ends of batches are counted."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname or "", where.port or 0)) as connection:
        connection.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB b.* 1\r\n')
        batches = list(range(1, count + 1, BATCH))
        for at in batches[:2]:
            request(connection, at)
        answers, ended, tail = min(2, len(batches)), 0, b""
        while ended < len(batches):
            data = tail + connection.recv(1 << 20)
            new = data.count(END)
            tail = data[-(len(END) - 1) :]
            for _ in range(new):
                ended += 1
                if answers < len(batches):
                    request(connection, batches[answers])
                    answers += 1


def stages(url: str, server: int, count: int) -> None:
    """Print what each stage from the stream to a Parquet file costs, in CPU time of the server and of this
    process."""
    runs = run_sizes(url, count)
    job = ReadJob("S", js.info(url, "S")["created"], 1, count + 1)
    begin, server_time = time.process_time(), cpu(server)
    bare(url, count)
    socket_time, server_time = time.process_time() - begin, cpu(server) - server_time
    begin = time.process_time()
    batches = list(DirectReader(job, lambda: StreamConnection.open(Settings(url=url))))
    cut = time.process_time() - begin - socket_time
    begin = time.process_time()
    rows = [to_spark_batch("S", [batch], COLUMNS[:-1]) for batch in batches]
    arrow = time.process_time() - begin
    begin = time.process_time()
    pq.write_table(pa.Table.from_batches(rows), pa.BufferOutputStream())
    parquet = time.process_time() - begin
    costs = {"server": server_time, "socket": socket_time, "cut": cut, "Arrow": arrow, "Parquet": parquet}
    for name, seconds in costs.items():
        print(f"stage {name:8} {seconds / count * 1e6:5.2f} us a message")
    print(f"messages in an answer: {runs:.0f}")


def run_sizes(url: str, count: int) -> float:
    """Messages in each batch that the reader yields, on average."""
    job = ReadJob("S", js.info(url, "S")["created"], 1, min(count, 50_000) + 1)
    sizes = [len(batch) for batch in DirectReader(job, lambda: StreamConnection.open(Settings(url=url)))]
    return statistics.mean(sizes)


def filtered(url: str, server: int, count: int) -> None:
    """Print how much faster 1 % of the subjects are read than all, and how much of it the server takes by
    itself."""
    js.stream(url, "F", "F.>", allow_direct=True)
    js.publish_all(url, ((f"F.{number % 100}", b"x" * 200) for number in range(count)))
    while js.info(url, "F")["state"]["messages"] < count:
        time.sleep(0.1)
    job = ReadJob("F", js.info(url, "F")["created"], 1, count + 1)

    def read(job: ReadJob) -> int:
        return sum(len(rows) for rows in DirectReader(job, lambda: StreamConnection.open(Settings(url=url))))

    some = job._replace(subjects=("F.7",))
    # After so many messages the server takes a second or two until it answers at its own pace.
    best = {
        "all": min(timed(lambda: read(job)) for _ in range(3)),
        "some": min(timed(lambda: read(some)) for _ in range(10)),
    }
    print(f"1 % of the subjects: {best['all'] / best['some']:.0f} times as fast as all (aim 20)")
    server_time = cpu(server)
    bound = min(timed(lambda: bare_filtered(url, "F", "F.7", count // 100)) for _ in range(3))
    server_time = (cpu(server) - server_time) / 3
    print(
        f"one request for them over a bare socket: {best['all'] / bound:.0f} times, {bound * 1000:.0f} ms, of"
    )
    print(
        f"which CPU of the server {server_time * 1000:.0f} ms; the reader takes {best['some'] * 1000:.0f} ms"
    )


def bare_filtered(url: str, stream: str, subject: str, count: int) -> None:
    """One request for all messages on a subject, whose answer is thrown away."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname or "", where.port or 0)) as connection:
        connection.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB b.* 1\r\n')
        body = json.dumps({"seq": 1, "batch": count, "next_by_subj": subject}).encode()
        line = f"PUB $JS.API.DIRECT.GET.{stream} b.1 {len(body)}"
        connection.sendall(b"%b\r\n%b\r\n" % (line.encode(), body))
        tail = b""
        while END not in tail:
            tail = tail[-len(END) :] + connection.recv(1 << 20)


def request(connection: socket.socket, at: int) -> None:
    body = b'{"seq":%d,"batch":%d}' % (at, BATCH)
    connection.sendall(b"PUB $JS.API.DIRECT.GET.S b.%d %d\r\n%b\r\n" % (at, len(body), body))


def reader(url: str, count: int) -> None:
    job = ReadJob("S", js.info(url, "S")["created"], 1, count + 1)
    seen = sum(len(chunk) for chunk in DirectReader(job, lambda: StreamConnection.open(Settings(url=url))))
    assert seen == count


async def fetch(url: str, count: int) -> None:
    client = await nats.connect(url)
    config = ConsumerConfig(ack_policy=AckPolicy.NONE)
    pulled = await client.jetstream().pull_subscribe("S.>", stream="S", config=config)
    seen = 0
    while seen < count:
        seen += len(await pulled.fetch(BATCH))
    await client.close()


def to_parquet(url: str, count: int, folder: Path, rounds: int) -> float:
    """Seconds of the best run, in a Spark that runs already."""
    from jsctl.spark.session.session import open_session

    best = float("inf")
    with open_session("local[2]") as spark:
        for number in range(rounds + 1):  # the first one warms up
            options = {"servers": url, "stream": "S", "minPartitions": "2"}
            frame = spark.read.format("jetstream").options(**options).load()
            path = (folder / f"parquet{number}").as_uri()
            took = timed(lambda frame=frame, path=path: frame.write.parquet(path))  # type: ignore[misc]
            best = min(best, took) if number else best
            assert spark.read.parquet(path).count() == count
    return best


def during_export(url: str, folder: Path, count: int) -> tuple[list[float], dict[str, float]]:
    """Times until acks came, in ms, while the whole command runs, and the most memory of its processes by
    kind, in MiB."""
    line = [sys.executable, "-m", "jsctl", "export", "stream", "S", "--to", str(folder / f"export{count}")]
    line += ["--to-seq", str(count)]
    ended = threading.Event()
    environ = {**os.environ, "NATS_URL": url, "XDG_CONFIG_HOME": str(folder)}
    process = subprocess.Popen(line, env=environ, stdout=subprocess.DEVNULL, start_new_session=True)
    peak: dict[str, float] = {}

    def wait() -> None:
        peak.update(most_memory(process))
        ended.set()

    threading.Thread(target=wait).start()
    result = latencies(url, ended)
    assert process.returncode == 0
    return result, peak


def most_memory(process: "subprocess.Popen[bytes]") -> dict[str, float]:
    """Wait for the leader of a session. Returns the most MiB that a process of each kind had."""
    peak = {"driver": 0.0, "JVM": 0.0, "worker": 0.0}
    while process.poll() is None:
        for running in in_session(process.pid):
            # What a JVM forks is called otherwise, and as large, until it becomes a worker.
            java = running.args.partition(" ")[0].endswith("java")
            kind = "driver" if running.pid == process.pid else "JVM" if java else "worker"
            peak[kind] = max(peak[kind], resident(running.pid))
        time.sleep(0.1)
    return peak


def resident(pid: int) -> float:
    """The most MiB in memory until now of a process that may be gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    result = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return int(result.get("VmHWM", "0 kB").split()[0]) / 1024


def latencies(url: str, ended: threading.Event, seconds: float = 600) -> list[float]:
    async def work() -> list[float]:
        connection = await Connection.open(Settings(url=url))
        results = []
        deadline = time.monotonic() + seconds
        try:
            while not ended.is_set() and time.monotonic() < deadline:
                begin = time.perf_counter()
                await connection.request("P.a", b"x" * 100)
                results.append((time.perf_counter() - begin) * 1000)
                await asyncio.sleep(0.002)
        finally:
            await connection.close()
        return results

    return asyncio.run(work())


def p99(latencies: list[float]) -> float:
    return statistics.quantiles(latencies, n=100)[98]


if __name__ == "__main__":
    main()
