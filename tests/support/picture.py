"""Draws the picture of the README from a real run: `python -m tests.support.picture`.

It starts a hub and a leaf node, to which messages are published, and consumers that catch up, fall behind or
are not asked. What the live report then shows in a terminal becomes .readme/report.svg.
"""

import asyncio
import html
import io
import re
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import nats
from nats.aio.client import Client
from rich.console import Console
from rich.text import Text

from jsctl.base.units import SECOND
from jsctl.testing import Network
from tests.support import js
from tests.support.emulator import Watched
from tests.support.meanwhile import running
from tests.support.run import Cli

FILE = Path(__file__).parents[2] / ".readme" / "report.svg"
COLUMNS, ROWS = 116, 14
CHARACTER_WIDTH = 12.2  #: of rich's pictures
SECONDS = 20  #: of messages, until the picture is taken


class Reader(NamedTuple):
    """A consumer. rate: messages per second that are read, 0 if nobody asks. acks: whether they are
    acknowledged."""

    name: str
    rate: int
    acks: bool = True


class Flow(NamedTuple):
    """A stream and what happens to it. before: messages that are there first. rate: messages per second."""

    context: str
    stream: str
    before: int
    rate: int
    readers: Sequence[Reader]


FLOWS = (
    Flow("hub", "ORDERS", 400, 120, [Reader("shipping", 200), Reader("billing", 60), Reader("audit", 0)]),
    Flow("hub", "PAYMENTS", 90, 30, [Reader("ledger", 40), Reader("fraud", 40)]),
    Flow("leaf", "SENSORS", 9000, 80, [Reader("export", 320), Reader("rollup", 100)]),
    Flow("leaf", "ALARMS", 20, 5, [Reader("pager", 10, acks=False)]),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Network("hub-leaf") as network:
        cli = Cli(Path(folder))
        cli.environ |= network.environ
        urls = {name: network.url(name) for name in ("hub", "leaf")}
        create(urls)
        with traffic(urls):
            watched = watch(cli, ["hub", "leaf"])
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                watched.read(end - time.monotonic())
            svg = draw(watched.screen.styled_lines, "jsctl report --watch")
            watched.press("q")
            watched.end()
    FILE.write_text(svg)


def watch(cli: Cli, contexts: Sequence[str]) -> Watched:
    """Start the live report of contexts in a terminal, and open its consumers."""
    flags = [word for context in contexts for word in ("--context", context)]
    watched = Watched(cli.terminal(["report", "--watch", "1s", *flags], columns=COLUMNS, rows=ROWS))
    watched.until("Streams")
    watched.press("2")
    watched.until("Consumer ")
    return watched


def create(urls: dict[str, str]) -> None:
    """Create the streams with their first messages, and the consumers."""
    for flow in FLOWS:
        url, subject = urls[flow.context], flow.stream.lower()
        js.stream(url, flow.stream, f"{subject}.>", storage="memory")
        js.publish(url, f"{subject}.new", b"{}", count=flow.before)
        for reader in flow.readers:
            config: dict[str, object] = {
                "durable_name": reader.name,
                "ack_policy": "explicit",
                "max_ack_pending": -1,
            }
            config["ack_wait"] = 60 * SECOND if reader.acks else 5 * SECOND
            body = {"stream_name": flow.stream, "config": config}
            js.ask(url, f"CONSUMER.CREATE.{flow.stream}.{reader.name}", body)


@contextmanager
def traffic(urls: dict[str, str]) -> Iterator[None]:
    """Publish and read while the block runs, ten times a second."""
    with running(lambda ended: run_flows(urls, ended)):
        yield


async def run_flows(urls: dict[str, str], ended: threading.Event) -> None:
    clients = {name: await nats.connect(url) for name, url in urls.items()}

    async def repeat(rate: int, act: Callable[[int], Awaitable[None]]) -> None:
        due = 0.0
        while not ended.is_set():
            due += rate / 10
            count, due = int(due), due % 1
            if count:
                await act(count)
            await asyncio.sleep(0.1)

    tasks = []
    for flow in FLOWS:
        client = clients[flow.context]
        tasks.append(repeat(flow.rate, publisher(client, f"{flow.stream.lower()}.new")))
        for reader in (reader for reader in flow.readers if reader.rate):
            tasks.append(repeat(reader.rate, await fetcher(client, flow.stream, reader)))
    await asyncio.gather(*tasks)
    for client in clients.values():
        await client.close()


def publisher(client: Client, subject: str) -> Callable[[int], Awaitable[None]]:
    async def publish(count: int) -> None:
        for _ in range(count):
            await client.publish(subject, b"{}")

    return publish


async def fetcher(client: Client, stream: str, reader: Reader) -> Callable[[int], Awaitable[None]]:
    consumer = await client.jetstream().pull_subscribe_bind(reader.name, stream)

    async def fetch(count: int) -> None:
        with suppress(TimeoutError):
            for message in await consumer.fetch(count, timeout=0.5):
                if reader.acks:
                    await message.ack()

    return fetch


def read_titles(svg: str) -> list[str]:
    """Return the titles of the columns in a picture."""
    texts = (html.unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)<", svg))
    line = next(text for text in texts if "Consumer " in text and "Lag" in text)
    return re.split(r"\s{2,}", line.strip())


def draw(lines: Sequence[str], title: str) -> str:
    """Return the lines of a screen, with their colors, as SVG."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap=True)
    svg = console.export_svg(title=title, unique_id="jsctl")
    # No fonts from elsewhere: the page that shows it may not load them.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)"( [^>]*)>((?:&#160;)*)', _skip_blanks, svg)
    return re.sub(r"<!--.*?-->", "", svg).replace("Fira Code,", "ui-monospace,Menlo,Consolas,")


def _skip_blanks(text: re.Match[str]) -> str:
    """Return the start of a text that begins with its first letter: not all programs draw blanks there."""
    x, y, length, rest, blanks = text.groups()
    skipped = len(blanks) // len("&#160;") * CHARACTER_WIDTH
    return f'x="{float(x) + skipped:g}" {y} textLength="{float(length) - skipped:g}"{rest}>'


if __name__ == "__main__":
    main()
