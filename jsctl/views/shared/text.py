"""Small texts that several views share."""

from jsctl.units import SECOND, format_bytes, format_count


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 message`, `1,204 messages`."""
    return f"{format_count(count)} {noun}{'' if count == 1 else 's'}"


def transfer_rate(size: int, duration: int) -> str:
    """Return `120 MiB/s`. size: bytes; duration: ns."""
    return f"{format_bytes(size * SECOND // max(duration, 1))}/s"
