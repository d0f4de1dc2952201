"""Round-trip times: `rtt`."""

from collections.abc import Sequence

from jsctl.monitor.rtt import Target
from jsctl.units import exact_duration, format_rfc3339
from jsctl.views.result import Result, Text


def result(targets: Sequence[Target]) -> Result:
    """Return each server with its addresses, as the `nats` tool shows them."""
    width = max((len(one.address) for target in targets for one in target.addresses), default=0) + 3
    parts = []
    for target in targets:
        lines = [f"{target.url}:", ""]
        for one in target.addresses:
            shown = "failed" if one.failure else exact_duration(one.rtt - one.rtt % 1000)
            lines.append(f"{one.address:>{width}}: {shown}")
        parts.append(Text("\n".join(lines)))
    data = [
        {
            "url": target.url,
            "results": [
                {
                    "time": format_rfc3339(one.time),
                    "address": one.address,
                    "rtt": one.rtt,
                    "url": one.connected,
                }
                | ({"error": one.failure.message} if one.failure else {})
                for one in target.addresses
            ],
        }
        for target in targets
    ]
    return Result(parts, data=data)
