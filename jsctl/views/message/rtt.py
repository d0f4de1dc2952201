"""Round-trip times: `rtt`."""

from collections.abc import Sequence

from jsctl.base.units import format_exact_duration, format_rfc3339
from jsctl.monitor.rtt import Address, Target
from jsctl.views.result import Column, Lines, Result, Table

_COLUMNS = (
    Column("URL", "url", "url"),
    Column("Address", "address", "url"),
    Column("RTT", "rtt", "duration"),
    Column("Error", "error", "prose"),
)


def failure(address: Address) -> str:
    """Return the line about an address that could not be measured."""
    return f"Failed to compute rtt for {address.address}: {address.failure}"


def result(targets: Sequence[Target]) -> Result:
    """Return each server with its addresses, as the `nats` tool shows them.

    JSON has its key `rtt`, too.
    """
    width = max((len(address.address) for target in targets for address in target.addresses), default=0) + 3
    parts = []
    for target in targets:
        lines = [f"{target.url}:", ""]
        for address in target.addresses:
            text = "failed" if address.failure else format_exact_duration(address.rtt - address.rtt % 1000)
            lines.append(f"{address.address:>{width}}: {text}")
        parts.append(Lines(lines))
    rows = [
        (
            target.url,
            address.address,
            None if address.failure else address.rtt,
            address.failure and address.failure.message,
        )
        for target in targets
        for address in target.addresses
    ]
    data = [
        {
            "url": target.url,
            "results": [
                {
                    "time": format_rfc3339(address.time),
                    "address": address.address,
                    "rtt": None if address.failure else address.rtt,
                    "rtt_ns": None if address.failure else address.rtt,
                    "url": address.connected,
                }
                | ({"error": address.failure.message} if address.failure else {})
                for address in target.addresses
            ],
        }
        for target in targets
    ]
    return Result(parts, data=data, table=Table("", _COLUMNS, rows))
