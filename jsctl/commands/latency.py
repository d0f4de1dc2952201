"""`jsctl latency`."""

import time
from dataclasses import dataclass

from jsctl.base.files import write_output
from jsctl.base.units import SECOND, format_bytes, format_exact_duration, pluralize
from jsctl.commands.cli import DURATION, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor import latency as domain
from jsctl.monitor.latency import PERCENTILES, Measurement, find_percentile
from jsctl.views.result import Field, InfoPage, Result, Section


def _show_result(measured: Measurement, *, size: int, rate: int, duration: int) -> Result:
    """Return connections, percentiles and rates. rate: messages per second. duration: ns."""
    ordered = measured.ordered()
    actual = round(len(ordered) * SECOND / measured.sending) if measured.sending else 0
    data = {
        "publisher_rtt_ns": measured.publisher_rtt,
        "subscriber_rtt_ns": measured.subscriber_rtt,
        "size": size,
        "rate": rate,
        "duration_ns": duration,
        "messages": len(ordered),
        "lost": measured.lost,
        "actual_rate": actual,
        "min_ns": ordered[0],
        "median_ns": find_percentile(ordered, 50),
        "max_ns": ordered[-1],
        "percentiles_ns": {f"{share:g}": find_percentile(ordered, share) for share in PERCENTILES},
    }
    sections = [
        Section(
            "",
            [
                Field("Pub Server RTT", _format_latency(measured.publisher_rtt)),
                Field("Sub Server RTT", _format_latency(measured.subscriber_rtt)),
                Field("Message Payload", size, "bytes"),
                Field("Target Duration", duration, "span"),
                Field("Target Msgs/Sec", rate, "count"),
                Field("Target Band/Sec", f"{format_bytes(rate * size * 2)}"),
            ],
        ),
        Section(
            "HDR Percentiles",
            [Field(f"{s:.7g}", _format_latency(find_percentile(ordered, s))) for s in PERCENTILES],
        ),
        Section(
            "Result",
            [
                Field("Actual Msgs/Sec", actual, "count"),
                Field("Actual Band/Sec", f"{format_bytes(actual * size * 2)}"),
                Field("Minimum Latency", _format_latency(ordered[0])),
                Field("Median Latency", _format_latency(find_percentile(ordered, 50))),
                Field("Maximum Latency", _format_latency(ordered[-1])),
                Field("Messages Lost", measured.lost, "count"),
                Field("1st Sent Wall Time", _format_latency(measured.before)),
                Field("Last Sent Wall Time", _format_latency(measured.sending)),
                Field("Last Recv Wall Time", _format_latency(measured.receiving)),
            ],
        ),
    ]
    return Result([InfoPage("Latency", sections)], data=data)


def _show_announcement(published: str, subscribed: str, rate: int) -> str:
    """Return the line before the first message. published, subscribed: the servers' URLs. rate: messages per
    second."""
    return f"Publishing {pluralize(rate, 'message')} per second on {published}, subscribed on {subscribed}"


def _show_latencies(measured: Measurement) -> str:
    """Return each latency in ms, a line each, in the order of arrival."""
    return "".join(f"{value / 1e6:.6f}\n" for value in measured.latencies)


def _show_histogram(measured: Measurement) -> str:
    """Return lines of value in ms, share, count and 1/(1-share), as plotters of HDR histograms read them."""
    ordered = measured.ordered()
    lines = ["Value  Percentile  TotalCount  1/(1-Percentile)", ""]
    for share in PERCENTILES:
        value = find_percentile(ordered, share)
        count = sum(1 for latency in ordered if latency <= value)
        last = f"{1 / (1 - share / 100):.2f}" if share < 100 else "inf"
        lines.append(f"{value / 1e6:.6f} {share / 100:.9f} {count} {last}")
    return "\n".join(lines) + "\n"


def _format_latency(value: int) -> str:
    return format_exact_duration(value - value % 1000)


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
    settings = env.settings()._replace(url=options.server_b) if options.server_b else env.settings()

    def announce(subscribed: str) -> None:
        if not env.wants_json:
            env.inform(_show_announcement(publisher.url, subscribed, options.rate))

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
        write_output(f"{options.histogram}.raw", _show_latencies(measurement))
        write_output(f"{options.histogram}.histogram", _show_histogram(measurement))
    return _show_result(measurement, size=options.size, rate=options.rate, duration=options.duration)
