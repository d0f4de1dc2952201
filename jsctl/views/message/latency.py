"""Latency between two connections: `latency`."""

from jsctl.base.units import SECOND, format_bytes, format_exact_duration, pluralize
from jsctl.monitor.latency import PERCENTILES, Measurement, find_percentile
from jsctl.views.result import Field, InfoPage, Result, Section


def result(measured: Measurement, *, size: int, rate: int, duration: int) -> Result:
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


def announcement(published: str, subscribed: str, rate: int) -> str:
    """Return the line before the first message. published, subscribed: the servers' URLs. rate: messages per
    second."""
    return f"Publishing {pluralize(rate, 'message')} per second on {published}, subscribed on {subscribed}"


def latencies(measured: Measurement) -> str:
    """Return each latency in ms, a line each, in the order of arrival."""
    return "".join(f"{value / 1e6:.6f}\n" for value in measured.latencies)


def histogram(measured: Measurement) -> str:
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
