"""How graphs write numbers."""

from jsctl.units import format_count


def format_whole(value: float) -> str:
    """Returns `1,234`."""
    return format_count(round(value))


def format_rate(value: float) -> str:
    """Returns `1,234.50`."""
    return f"{value:,.2f}"
