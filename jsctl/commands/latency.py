"""`jsctl latency`."""

import time
from dataclasses import dataclass, replace

from jsctl.base.files import write_output
from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor import latency as domain
from jsctl.views.message import latency as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. size: bytes. rate: messages per second. duration: ns."""

    server_b: str
    size: int
    rate: int
    duration: int
    histogram: str

    def __post_init__(self) -> None:
        if self.size < domain.SMALLEST:
            raise BadInput(f"--size must be {domain.SMALLEST} bytes or more")
        if self.rate < 1 or self.duration <= 0:
            raise BadInput("--rate and --duration must be more than 0")


@command(
    "latency",
    examples=["jsctl latency", "jsctl latency --server-b nats://leaf:4222 --rate 5000 --duration 10s"],
)
@option("--server-b", metavar="URL", default="", help="Subscribe on this server (the same one)")
@option("--size", type=int, default=8, metavar="BYTES", help="Size of a message (8)")
@option("--rate", type=int, default=1000, metavar="N", help="Messages per second (1000)")
@option("--duration", type=DURATION, default=5 * SECOND, metavar="DURATION", help="How long to publish (5s)")
@option("--histogram", metavar="FILE", default="", help="Write FILE.raw and FILE.histogram")
async def latency(env: Env, options: Options) -> Result:
    """Publish on one connection and subscribe on the other, both on this machine, so that the clocks of the
    servers do not matter.
    """
    started = time.monotonic_ns()
    publisher = await env.connection()
    settings = replace(env.settings(), url=options.server_b) if options.server_b else env.settings()

    def announce(subscribed: str) -> None:
        if not env.wants_json:
            env.inform(view.announcement(publisher.url, subscribed, options.rate))

    measurement = await domain.measure(
        publisher,
        settings,
        size=options.size,
        rate=options.rate,
        duration=options.duration,
        started=started,
        announce=announce,
    )
    if options.histogram:
        write_output(f"{options.histogram}.raw", view.latencies(measurement))
        write_output(f"{options.histogram}.histogram", view.histogram(measurement))
    return view.result(measurement, size=options.size, rate=options.rate, duration=options.duration)
