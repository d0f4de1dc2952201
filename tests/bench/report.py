"""The live report: `python tests/bench/report.py`.

First the processor time of a round of `jsctl report --watch` in a pseudo-terminal of 120x40, over three
accounts of 100 streams each, beside three `nats stream report` (JSCTL_BENCH_NATS), which is what people did
before. The aim is a fifth. Then the rounds of a report every 2 s over 5,000 streams and 7,500 consumers, of
which the first asks for all: processor time to ask and to draw, aim 0.15 s together; and to draw streams and
consumers at each size, as a share of the aim of 5 ms, which is for 10,000 of them, too (`--streams 10000
--consumers 10000`). And the memory of many rounds, of which the second half adds none.
"""

import argparse
import asyncio
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.paging import fetch_items
from jsctl.monitor.report.places import Places
from jsctl.monitor.trouble import YOUNG
from jsctl.nats.connection import Connection
from jsctl.screen.drawing import draw, settle
from jsctl.screen.model import build_first_model, with_board, with_size
from jsctl.views.board import Start
from jsctl.views.report.board import board
from tests.bench import environment
from tests.bench.streams import create
from tests.support.emulator import Watched
from tests.support.run import Cli
from tests.support.servers import RealServer, many_accounts

SIZES = ((80, 24), (60, 20), (120, 40), (200, 60))
AIM = 0.005  #: seconds of processor time to draw a round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="rounds of the small report")
    parser.add_argument("--streams", type=int, default=5_000, help="of the large report")
    parser.add_argument("--consumers", type=int, default=7_500, help="of the large report")
    parser.add_argument("--memory-rounds", type=int, default=300, help="an hour has 1,800 of 2 s")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            urls = [server.url_for(f"t{number}") for number in range(4)]
            for url in urls[:3]:
                asyncio.run(create(url, 100))
            small(folder, urls[:3], args.rounds)
            asyncio.run(memory(urls[:3], args.memory_rounds))
            asyncio.run(create(urls[3], args.streams))
            asyncio.run(large(urls[3], args.consumers))
        finally:
            server.stop()


def small(folder: str, urls: list[str], rounds: int) -> None:
    """Processor time of a round on a screen, and of three runs of the peer."""
    cli = Cli(Path(folder))
    contexts = []
    for number, url in enumerate(urls):
        cli(f"context add c{number} --server {url}", status=0)
        contexts += ["--context", f"c{number}"]
    used = [cpu_of_watch(cli, contexts, count) for count in (5, 5 + rounds)]
    ours = (used[1] - used[0]) / rounds
    print(f"3 x 100 streams: a round of the screen {ours * 1000:.1f} ms of processor time", end="")
    if peer := os.environ.get("JSCTL_BENCH_NATS"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(5):
            for url in urls:
                line = [peer, "-s", url, "stream", "report"]
                subprocess.run(line, stdout=subprocess.DEVNULL, env=environment(folder), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 5
        print(
            f", three `nats stream report` {theirs * 1000:.0f} ms, ratio {ours / theirs:.2f} (aim 0.2)",
            end="",
        )
    print()


def cpu_of_watch(cli: Cli, contexts: list[str], count: int) -> float:
    """Seconds of processor time of a screen with so many rounds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    watched = Watched(cli.terminal(["report", "--watch", "250ms", "--count", str(count), *contexts]))
    watched.end(120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def large(url: str, consumers: int) -> None:
    """Rounds of a report every 2 s, with a picture of the consumers."""
    connection = await Connection.open(Settings(url=url))
    api, gate = Api(connection), asyncio.Semaphore(16)
    names = await fetch_items(api, "STREAM.NAMES", "streams")

    async def add(stream: str, number: int) -> None:
        async with gate:
            config = {"durable_name": f"c{number}", "ack_policy": "explicit", "mem_storage": True}
            await api.call(f"CONSUMER.CREATE.{stream}.c{number}", {"stream_name": stream, "config": config})

    await asyncio.gather(*(add(names[n % len(names)], n // len(names)) for n in range(consumers)))
    await connection.close()
    await asyncio.sleep(YOUNG / SECOND)  # what is young is looked at anew in each round
    gc.set_threshold(50_000)  # as in `jsctl`
    places = Places([Settings(url=url)], pattern="", with_consumers=True, needs="screen")
    models = {
        part: build_first_model(Start("jsctl report", part=part), 2 * SECOND)
        for part in ("streams", "consumers")
    }
    asking = []
    drawing: dict[tuple[str, int, int], list[float]] = {}
    for number in range(8 * len(SIZES)):
        began = time.process_time()
        known = [places_now async for places_now in places.one_round(2)][-1]
        asking.append(time.process_time() - began)
        width, height = SIZES[number // 8]
        for part in models:
            began = time.process_time()
            sized = with_size(models[part], width, height)
            models[part] = settle(with_board(sized, board(known, time.time(), number)))
            draw(models[part], width, height)
            took = time.process_time() - began
            if number % 8 >= 2:  # without the first rounds of a size, which find no row that was shown
                drawing.setdefault((part, width, height), []).append(took)
    await places.close()
    ask = statistics.median(asking[4:])
    show = statistics.median(drawing["consumers", 120, 40])
    print(
        f"{len(names):,} streams, {consumers:,} consumers: the first round {asking[0]:.2f} s of"
        f" processor time, then {ask + show:.2f} s ({ask * 1000:.0f} ms to ask, {show * 1000:.1f} ms to draw)"
    )
    for (part, width, height), times in drawing.items():
        took = statistics.median(times)
        print(f"  {part} at {width}x{height}: {took * 1000:.1f} ms to draw, {took / AIM:.2f} of the aim")


async def memory(urls: list[str], rounds: int) -> None:
    """Resident memory over many rounds without a pause."""
    places = Places([Settings(url=url) for url in urls], pattern="", with_consumers=True, needs="screen")
    model = with_size(build_first_model(Start("jsctl report"), SECOND), 120, 40)
    sizes = []
    for number in range(rounds):
        async for known in places.one_round(60):
            model = settle(with_board(model, board(known, time.time(), number)))
            draw(model, 120, 40)
        sizes.append(resident())
    await places.close()
    at_half = sizes[rounds // 2]
    print(
        f"{rounds} rounds: {sizes[9]:.1f} MiB after 10, {at_half:.1f} at the half, {sizes[-1]:.1f} at the end"
    )


def resident() -> float:
    """MiB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
