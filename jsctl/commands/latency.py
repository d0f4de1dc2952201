"""`jsctl latency`."""

import time
from dataclasses import replace
from pathlib import Path

from jsctl.commands.cli import DURATION, command, option
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.files import write_atomically
from jsctl.monitor import latency as domain
from jsctl.nats.connection import Connection
from jsctl.units import SECOND
from jsctl.views.message import latency as view
from jsctl.views.result import Result


@command(
    "latency",
    examples=["jsctl latency", "jsctl latency --server-b nats://leaf:4222 --rate 5000 --duration 10s"],
)
@option("--server-b", metavar="URL", default="", help="Subscribe on this server; without it, on the same")
@option("--size", type=int, default=8, metavar="BYTES", help="Size of a message (8)")
@option("--rate", type=int, default=1000, metavar="N", help="Messages a second (1000)")
@option("--duration", type=DURATION, default=5 * SECOND, metavar="DURATION", help="How long to publish (5s)")
@option("--histogram", metavar="FILE", default="", help="Write FILE.raw and FILE.histogram")
async def latency(env: Env, server_b: str, size: int, rate: int, duration: int, histogram: str) -> Result:
    """One publishes, the other subscribes, both from here: the two servers' clocks do not matter."""
    started = time.monotonic_ns()
    if size < domain.SMALLEST:
        raise BadInput(f"--size is at least {domain.SMALLEST} bytes")
    if rate < 1 or duration <= 0:
        raise BadInput("--rate and --duration are more than 0")
    publisher = await env.connection()
    settings = env.settings()
    subscriber = await Connection.open(replace(settings, url=server_b) if server_b else settings)
    try:
        if not env.wants_json:
            env.say(
                f"Publishing {rate:,} messages a second on {publisher.url}, subscribed on {subscriber.url}"
            )
        measured = await domain.measure(
            publisher, subscriber, size=size, rate=rate, duration=duration, started=started
        )
    finally:
        await subscriber.close()
    if histogram:
        _write(f"{histogram}.raw", "".join(f"{value / 1e6:.6f}\n" for value in measured.latencies))
        _write(f"{histogram}.histogram", view.histogram(measured))
    return view.result(measured, size=size, rate=rate, duration=duration)


def _write(path: str, text: str) -> None:
    try:
        write_atomically(Path(path).expanduser(), text, mode=None)
    except OSError as error:
        raise JsctlError(f"cannot write {path}: {error.strerror}") from None
