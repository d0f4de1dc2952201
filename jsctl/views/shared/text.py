"""Short texts that several views share."""

from jsctl.base.units import SECOND, format_bytes


def transfer_rate(size: int, duration: int) -> str:
    """Return `120 MiB/s`. size: bytes; duration: ns."""
    return f"{format_bytes(size * SECOND // max(duration, 1))}/s"


def quote_for_dot(text: str) -> str:
    """Return a text as a quoted string of Graphviz."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(c if c.isprintable() else " " for c in escaped)}"'
