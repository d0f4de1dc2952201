"""`jsctl rtt`."""

from collections.abc import Sequence

from jsctl.base.units import format_exact_duration, format_rfc3339
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.rtt import Address, Target, measure_targets
from jsctl.views.result import Column, Lines, Result, Table

_COLUMNS = (
    Column("URL", "url", "url"),
    Column("Address", "address", "url"),
    Column("RTT", "rtt", "duration"),
    Column("Error", "error", "prose"),
)


def _show_result(targets: Sequence[Target]) -> Result:
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


@command("rtt", examples=["jsctl rtt", "jsctl rtt 20 --context hub", "jsctl rtt --json"])
@argument("iterations", type=int, default=5)
async def rtt(env: Env, iterations: int) -> Result:
    """Resolve a host name, and try each of its addresses. If none can be reached or logged in to, the exit
    status says why.
    """
    if iterations < 1:
        raise BadInput("ITERATIONS must be 1 or more")

    def say_failure(address: Address) -> None:
        env.say(f"Failed to compute rtt for {address.address}: {address.failure}")

    targets = await measure_targets(env.settings(), iterations, say_failure)
    return _show_result(targets)
