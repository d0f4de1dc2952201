"""Rows to a stream beside nats-py, as ratios in one run: `python tests/bench/sink.py [--messages N]`.

nats-py publishes each message and waits for its ack; or publishes as many at once as the sink does and waits
for all acks. The sink is measured in one process, as a task runs it, and as `df.write` of a Spark with a task
on each of two cores, without Spark's start. Both have message ids and an expected stream.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import nats
import pyarrow as pa

from jsctl.contexts.settings import Settings
from jsctl.spark import connect
from jsctl.spark.sink.publishing import BURST, WriteJob, publish
from jsctl.spark.sink.row import list_batch_rows
from tests.bench import start_server
from tests.support import js


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=200, help="bytes")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder))
        try:
            measure(server.url, args.messages, b"x" * args.size, args.rounds)
        finally:
            server.stop()


def measure(url: str, count: int, payload: bytes, rounds: int) -> None:
    spark = connect(servers=url)
    spark.sparkContext.setLogLevel("ERROR")
    some = max(100, count // 20)  # the slow one gets less
    works: dict[str, tuple[int, Callable[[int], object]]] = {
        "nats-py, one by one": (some, lambda many: asyncio.run(one_by_one(url, many, payload))),
        "nats-py, in bursts": (count, lambda many: asyncio.run(in_bursts(url, many, payload))),
        "the sink's task": (count, lambda many: task(url, many, payload)),
        "df.write": (count, lambda many: write(spark, many, payload)),
    }
    best = dict.fromkeys(works, 0.0)
    js.stream(url, "S", "S.>")
    write(spark, 1000, payload)  # Spark's first job loads classes
    for _ in range(rounds):
        for name, (many, work) in works.items():
            js.ask(url, "STREAM.PURGE.S")
            begin = time.monotonic()
            work(many)
            best[name] = max(best[name], many / (time.monotonic() - begin))
            if js.info(url, "S")["state"]["messages"] != many:
                raise SystemExit(f"{name}: not all messages were stored")
    spark.stop()
    for name, rate in best.items():
        print(f"{name:20} {rate:10,.0f} messages a second")
    for name in ("the sink's task", "df.write"):
        for other in ("nats-py, one by one", "nats-py, in bursts"):
            print(f"{name} to {other}: {best[name] / best[other]:.1f} times")


async def one_by_one(url: str, count: int, payload: bytes) -> None:
    await publish_all(url, count, payload, 1)


async def in_bursts(url: str, count: int, payload: bytes) -> None:
    await publish_all(url, count, payload, BURST)


async def publish_all(url: str, count: int, payload: bytes, burst: int) -> None:
    client = await nats.connect(url)
    stream = client.jetstream(publish_async_max_pending=burst)
    run = str(time.time_ns())

    async def send(number: int) -> Awaitable[Any]:
        headers = {"Nats-Msg-Id": f"{run}.{number}"}
        if burst == 1:
            return stream.publish("S.a", payload, headers=headers, stream="S")
        return await stream.publish_async("S.a", payload, headers=headers, wait_stall=60)

    for start in range(0, count, burst):
        numbers = range(start, min(start + burst, count))
        for ack in [await send(number) for number in numbers]:
            await ack
    await client.close()


def task(url: str, count: int, payload: bytes) -> None:
    job = WriteJob(Settings(url=url), "S", "S.a", str(time.time_ns()))
    batches = [pa.record_batch({"data": [payload] * min(10_000, count)})] * (count // min(10_000, count))
    publish(job, 0, list_batch_rows(batches))


def write(spark: Any, count: int, payload: bytes) -> None:
    rows = spark.range(0, count, 1, 2).selectExpr(f"'{payload.decode()}' AS data")
    rows.write.format("jetstream").mode("append").options(stream="S", subject="S.a").save()


if __name__ == "__main__":
    main()
