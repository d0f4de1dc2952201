"""Exports of a stream to a lake, as ratios in one run: `python tests/bench/lake.py [--mib N] [--memory]`.

Messages are orders in JSON, of 1 KiB on average. `export stream` writes them plain, by date, by country and
decoded (with the schema given), in a Spark that runs already, on one processor and on two, to a folder and
to an S3 of this machine (aims: two processors 1.8 times as fast as one; by date and by country at most 1.1
times as long as plain). Beside it: the same source with Spark's own Parquet writer, and a loop over nats-py's
fetch whose messages pyarrow writes. All of it shares these processors: the servers take two fifths of the
time, so that two tasks are less than 1.8 times as fast as one.

`--mib 4096 --memory` measures the memory in place of the times: the most that driver, JVM and a worker have
while the stream is exported to a quarter (1 GiB), and whole (aim: 1.0 times). Without hadoop-aws there is no
S3.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import nats
import pyarrow as pa
import pyarrow.parquet as pq
from nats.js.api import AckPolicy, ConsumerConfig
from pyarrow.dataset import dataset

from jsctl.errors import JsctlError
from jsctl.spark.session.hadoop import HadoopPath
from jsctl.spark.session.packages import add_packages
from jsctl.spark.session.session import open_session
from tests.bench import environment, start_server
from tests.bench.spark import most_memory
from tests.support import js
from tests.support.run import Cli
from tests.support.s3 import LOGIN, Store, serve_s3

S3 = "s3a://lake/bench"
BATCH = 1000
COUNTRIES = ["AT", "BE", "CZ", "DE", "DK", "ES", "FI", "FR", "GB", "IE", "IT", "NL", "NO", "PL", "PT", "SE"]
SCHEMA = "id long, customer string, items array<struct<sku: string, count: int, price: double>>, note string"
WAYS: dict[str, Sequence[str]] = {
    "plain": [],
    "by date": ["--partition-by", "date"],
    "by country": ["--partition-by", "subject:2"],
    "decoded": ["--decode", "json", "--schema", SCHEMA],
}
"""Flags of exports."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=256, help="size of the stream")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory", action="store_true", help="measure the memory of it and of a quarter")
    parser.add_argument("--master", help="measure this one in this process")
    parser.add_argument("--s3", type=int, help="with --master: the port of an S3")
    options = parser.parse_args()
    if options.master:
        print(json.dumps(measure(options.master, Store(options.s3), options.rounds)))
        return
    available = sorted(os.sched_getaffinity(0))
    results = []
    for count in (2,) if options.memory else (1, 2):
        os.sched_setaffinity(0, available[:count])  # what is started from here on inherits it
        with tempfile.TemporaryDirectory() as name, serve(Path(name)) as server:
            messages = fill(server.url, options.mib)
            if options.memory:
                measure_memory(server.url, Path(name), messages)
                return
            with serve_s3(Path(name, "s3.log")) as store:
                print(f"{messages:,} messages, {options.mib} MiB, {count} of the processors", flush=True)
                results.append(compare(server.url, Path(name), store, count, options))
    one, two = results
    for way in two:
        print(f"two processors to one, {way:24} {one[way] / two[way]:5.2f} times as fast (aim 1.6)")


@contextmanager
def serve(folder: Path) -> Iterator[Any]:
    server = start_server(folder)
    try:
        yield server
    finally:
        server.stop()


def generate(mib: int) -> Iterator[tuple[str, bytes]]:
    """Yield subjects and payloads, always the same, none like another."""
    rng = random.Random(31)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(3, 11))) for _ in range(2000)]
    orders = []
    for _ in range(2000):
        items = [
            {
                "sku": f"{rng.getrandbits(48):012x}",
                "count": rng.randint(1, 9),
                "price": rng.randint(1, 9999) / 100,
            }
            for _ in range(rng.randint(1, 12))
        ]
        note = " ".join(rng.choices(words, k=rng.randint(5, 110)))
        order = json.dumps({"customer": f"{rng.getrandbits(64):016x}", "items": items, "note": note})
        orders.append((f"S.{rng.choice(COUNTRIES)}.new", order[1:].encode()))
    size = number = 0
    while size < mib << 20:
        subject, rest = orders[number % len(orders)]
        payload = b'{"id": %d, %b' % (number, rest)
        yield subject, payload
        size += len(payload)
        number += 1


def fill(url: str, mib: int) -> int:
    """Return the number of messages."""
    js.stream(url, "S", "S.>", allow_direct=True)
    count = sum(1 for _ in generate(mib))
    js.publish_all(url, generate(mib))
    js.wait_until_stored(url, "S", count)
    return count


def compare(
    url: str, folder: Path, store: Store, processors: int, options: argparse.Namespace
) -> dict[str, float]:
    """Return the seconds that each way takes, measured in a process of its own."""
    count = js.info(url, "S")["state"]["messages"]
    some = max(BATCH, count // 10)  # the slow one gets a tenth
    loop = min(timed(lambda: asyncio.run(fetch(url, some, folder / "fetched.parquet"))) for _ in range(2))
    loop *= count / some
    master = f"local[{processors}]"
    line = [sys.executable, __file__, "--master", master]
    line += ["--s3", str(store.port), "--rounds", str(options.rounds)]
    environ = {**environment(folder), **LOGIN, "NATS_URL": url}
    done = subprocess.run(line, env=environ, stdout=subprocess.PIPE, text=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print_ratios(master, seconds, loop, options.mib)
    return seconds


def print_ratios(master: str, seconds: dict[str, float], loop: float, mib: int) -> None:
    for way, took in seconds.items():
        place = way.partition(": ")[0]
        plain, spark = seconds[f"{place}: plain"], seconds[f"{place}: Spark's writer"]
        print(
            f"{master} {way:24} {mib / took:5.0f} MiB/s: takes {took / plain:.2f} times plain,"
            f" {took / spark:.2f} times Spark's writer; {loop / took:.1f} times as fast as the loop",
            flush=True,
        )


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


async def fetch(url: str, count: int, file: Path) -> None:
    """Write messages as many a script does: fetch a batch, append it as a row group."""
    client = await nats.connect(url)
    config = ConsumerConfig(ack_policy=AckPolicy.NONE)
    pulled = await client.jetstream().pull_subscribe("S.>", stream="S", config=config)
    rows: dict[str, list[Any]] = {"subject": [], "sequence": [], "timestamp": [], "data": []}
    writer = None
    seen = 0
    while seen < count:
        for message in await pulled.fetch(BATCH):
            metadata = message.metadata
            rows["subject"].append(message.subject)
            rows["sequence"].append(metadata.sequence.stream)
            rows["timestamp"].append(metadata.timestamp)
            rows["data"].append(message.data)
        if len(rows["data"]) >= 30 * BATCH or seen + len(rows["data"]) >= count:
            seen += len(rows["data"])
            table = pa.table(rows)
            writer = writer or pq.ParquetWriter(file, table.schema)
            writer.write_table(table)
            for values in rows.values():
                values.clear()
    if writer:
        writer.close()
    await client.close()


def measure(master: str, store: Store, rounds: int) -> dict[str, float]:
    """Return the least seconds of each way to each place, without Spark's start."""
    url = os.environ["NATS_URL"]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        disk = str(Path(name, "lake"))
        places = {"disk": disk, "S3": S3}
        try:
            conf = add_packages(store.conf, "auto", [HadoopPath(S3)])
            spark = stack.enter_context(open_session(master, conf=conf))
        except JsctlError as error:
            if "unresolved dependency" not in str(error):
                raise
            print("hadoop-aws is not here and Maven Central cannot be reached: no S3", file=sys.stderr)
            del places["S3"]
            spark = stack.enter_context(open_session(master))

        def export(to: str, flags: Sequence[str]) -> None:
            Cli(Path(name), url)(["export", "stream", "S", "--to", to, *flags], status=0)

        def write(to: str) -> None:
            frame = spark.read.format("jetstream").options(servers=url, stream="S").load()
            frame.write.parquet(f"{to}/S")

        works: dict[str, Callable[[], None]] = {}
        for place, to in places.items():
            for way, flags in WAYS.items():
                works[f"{place}: {way}"] = partial(export, to, flags)
            works[f"{place}: Spark's writer"] = partial(write, to)
        count = js.info(url, "S")["state"]["messages"]
        best = dict.fromkeys(works, float("inf"))
        for number in range(rounds + 1):
            for way, work in works.items():
                took = timed(work)
                best[way] = min(best[way], took) if number else best[way]  # the first round warms up
                is_remote = way.startswith("S3")
                found = dataset("lake/bench/S", filesystem=store.files) if is_remote else dataset(f"{disk}/S")
                if found.count_rows() != count:
                    raise SystemExit(f"{way}: not all messages were written")
                shutil.rmtree(disk, ignore_errors=True)
                if is_remote:
                    HadoopPath(S3, spark).rmtree()
    return best


def measure_memory(url: str, folder: Path, count: int) -> None:
    """Print the most memory of an export of all messages, and of a quarter of them."""
    peaks = []
    for end in (count // 4, count):
        line = [sys.executable, "-m", "jsctl", "export", "stream", "S", "--to", str(folder / str(end))]
        process = subprocess.Popen(
            [*line, "--to-seq", str(end), "--master", "local[2]"],
            env={**environment(folder), "NATS_URL": url},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        peaks.append(most_memory(process))
        if process.returncode:
            raise SystemExit("an export failed")
    quarter, whole = peaks
    for kind, most in whole.items():
        print(f"memory of {kind:6} {most:6.0f} MiB, {most / quarter[kind]:.2f} times a quarter's (aim 1)")


if __name__ == "__main__":
    main()
