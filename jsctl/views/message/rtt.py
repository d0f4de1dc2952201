"""Round-trip times: `rtt`."""

from collections.abc import Sequence

from jsctl.monitor.rtt import Address, Target
from jsctl.units import exact_duration, format_rfc3339
from jsctl.views.result import Column, Result, Table, Text

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
    width = max((len(one.address) for target in targets for one in target.addresses), default=0) + 3
    parts = []
    for target in targets:
        lines = [f"{target.url}:", ""]
        for one in target.addresses:
            shown = "failed" if one.failure else exact_duration(one.rtt - one.rtt % 1000)
            lines.append(f"{one.address:>{width}}: {shown}")
        parts.append(Text("\n".join(lines)))
    rows = [
        (target.url, one.address, None if one.failure else one.rtt, one.failure and one.failure.message)
        for target in targets
        for one in target.addresses
    ]
    data = [
        {
            "url": target.url,
            "results": [
                {
                    "time": format_rfc3339(one.time),
                    "address": one.address,
                    "rtt": None if one.failure else one.rtt,
                    "rtt_ns": None if one.failure else one.rtt,
                    "url": one.connected,
                }
                | ({"error": one.failure.message} if one.failure else {})
                for one in target.addresses
            ],
        }
        for target in targets
    ]
    return Result(parts, data=data, table=Table("", _COLUMNS, rows))
