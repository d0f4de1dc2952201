"""The memory that exports of wide streams take, in one run: `python tests/bench/spark_memory.py [--share N]`.

A stream of 1,000 subjects, one of 1 GiB in messages of 10 MB, and one of 1 GiB in headers: each is exported
to a quarter, and whole. The most that driver, JVM and a worker have in memory should be about the same (aim:
1.0 times). --share 10 takes a tenth of all.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jsctl.contexts.settings import Settings
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from tests.bench.spark import most_memory
from tests.support import js
from tests.support.servers import RealServer

CONFIG = """
listen: "127.0.0.1:{port}"
max_payload: 16MB
max_pending: 64MB
jetstream { store_dir: "{store}" }
"""
SUBJECTS, LARGE, HEADERS = 1_000, 10_000_000, 60_000
"""How many there are, and bytes of each."""

Message = tuple[str, bytes, bytes]
"""Subject, payload, header block."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1)
    share = parser.parse_args().share
    block = b"NATS/1.0\r\n%b\r\n" % (b"Name: %b\r\n" % (b"v" * 1000) * (HEADERS // 1008))
    streams: dict[str, tuple[int, Iterable[Message]]] = {
        "subjects": (
            n := 400_000 // share,
            ((f"subjects.{i % SUBJECTS}", b"x" * 500, b"") for i in range(n)),
        ),
        "large": (n := (1 << 30) // LARGE // share, (("large.a", os.urandom(LARGE), b"") for _ in range(n))),
        "headers": (n := (1 << 30) // HEADERS // share, (("headers.a", b"x", block) for _ in range(n))),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = RealServer(folder, CONFIG).start()
        try:
            for stream, (count, messages) in streams.items():
                js.stream(server.url, stream, f"{stream}.>", allow_direct=True)
                asyncio.run(publish(server.url, stream, messages))
                js.wait_until_stored(server.url, stream, count)
                quarter = export(server.url, stream, folder, count // 4)
                whole = export(server.url, stream, folder, count)
                shown = ", ".join(f"{k} {whole[k]:.0f} MiB ({whole[k] / quarter[k]:.2f})" for k in whole)
                print(f"{stream:9} {count:9,} messages: {shown} (aim 1)", flush=True)
                js.ask(server.url, f"STREAM.DELETE.{stream}")
        finally:
            server.stop()


async def publish(url: str, stream: str, messages: Iterable[Message]) -> None:
    """Publish, and ask the stream now and then, so that few messages wait to be stored."""
    connection = await Connection.open(Settings(url=url))
    size = 0
    try:
        for subject, data, block in messages:
            await connection.send(encode_publish(subject, data, "", block))
            size += len(data) + len(block)
            if size > 2 << 20:
                await connection.request(f"$JS.API.STREAM.INFO.{stream}")
                size = 0
        await connection.flush()
    finally:
        await connection.close()


def export(url: str, stream: str, folder: Path, count: int) -> dict[str, float]:
    """The most MiB of each kind of process while the first messages are exported."""
    to = folder / f"{stream}{count}"
    line = [sys.executable, "-m", "jsctl", "export", "stream", stream, "--to", str(to), "--headers"]
    environ = {**os.environ, "NATS_URL": url, "XDG_CONFIG_HOME": str(folder)}
    process = subprocess.Popen(
        [*line, "--to-seq", str(count)], env=environ, stdout=subprocess.DEVNULL, start_new_session=True
    )
    peak = most_memory(process)
    assert process.returncode == 0
    return peak


if __name__ == "__main__":
    main()
