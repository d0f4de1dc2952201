"""Short texts that several views share."""

from jsctl.units import SECOND, format_bytes


def transfer_rate(size: int, duration: int) -> str:
    """Return `120 MiB/s`. size: bytes; duration: ns."""
    return f"{format_bytes(size * SECOND // max(duration, 1))}/s"
