"""A repeated `stream info`: `python tests/bench/shell.py [--lines N]`.

In `jsctl shell`, beside the server's answer alone, a process of jsctl for each line, and one of the peer's
binary, which is taken from JSCTL_BENCH_NATS and left out where that is not set. Each is the mean of N lines.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.connection import Connection
from tests.bench import environment
from tests.support import js
from tests.support.servers import RealServer, many_accounts

JSCTL = str(Path(sys.executable).parent / "jsctl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=300)
    count = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder), many_accounts()).start()
        try:
            url = server.url_for("t0")
            js.stream(url, "ORDERS", "orders.>")
            once = spent_in_shell(folder, url, ["version"])
            alone = asyncio.run(answers(url, count))
            shell = (spent_in_shell(folder, url, ["stream info ORDERS"] * count) - once) / count
            print(f"the server's answer   {alone * 1000:8.2f} ms")
            print(f"jsctl shell           {shell * 1000:8.2f} ms   {(shell - alone) * 1000:+.2f} ms")
            for name, program in (("jsctl", JSCTL), ("nats", os.environ.get("JSCTL_BENCH_NATS"))):
                if program:
                    spent = spent_by(folder, [program, "-s", url, "stream", "info", "ORDERS"], min(count, 20))
                    print(f"{name + ', a process each':<21} {spent * 1000:8.2f} ms")
        finally:
            server.stop()


async def answers(url: str, count: int) -> float:
    """Seconds of one request for a stream's info."""
    connection = await Connection.open(Settings(url=url))
    try:
        api = Api(connection)
        began = time.perf_counter()
        for _ in range(count):
            await streams.fetch_info(api, "ORDERS")
        return (time.perf_counter() - began) / count
    finally:
        await connection.close()


def spent_in_shell(folder: str, url: str, lines: list[str]) -> float:
    """Seconds of a script."""
    script = Path(folder, "lines")
    script.write_text("\n".join(lines))
    return spent_by(folder, [JSCTL, "-s", url, "shell", "--file", str(script)], 1)


def spent_by(folder: str, command: list[str], count: int) -> float:
    """Seconds of one process."""
    began = time.perf_counter()
    for _ in range(count):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment(folder))
    return (time.perf_counter() - began) / count


if __name__ == "__main__":
    main()
