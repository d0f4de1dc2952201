"""Results of `jsctl import`."""

from collections.abc import Sequence

from jsctl.units import SECOND, format_bytes, format_count
from jsctl.views.result import Result, Text


def imported(stream: str, published: int, duplicates: int, size: int, took: int) -> Result:
    """Show the result of `jsctl import`. size: bytes of payload. took: ns."""
    dropped = f", {_messages(duplicates, 'duplicate')} dropped" if duplicates else ", no duplicates"
    what = f"published {_messages(published)} ({format_bytes(size)}) to {stream}"
    text = f"{what}{dropped}, in {took / SECOND:.1f}s"
    seconds = round(took / SECOND, 3)
    data = {
        "stream": stream,
        "published": published,
        "duplicates": duplicates,
        "bytes": size,
        "seconds": seconds,
    }
    return Result([Text(text)], data)


def rehearsed(stream: str, messages: int, size: int, subjects: Sequence[str]) -> Result:
    """Show the result of `jsctl import --dry-run`. size: bytes of payload."""
    shown = ", ".join(subjects[:5]) + (", ..." if len(subjects) > 5 else "")
    text = f"would publish {_messages(messages)} ({format_bytes(size)}) to {stream}"
    data = {"stream": stream, "messages": messages, "bytes": size, "subjects": list(subjects)}
    return Result([Text(f"{text}, on {shown}" if subjects else text)], data)


def _messages(count: int, what: str = "message") -> str:
    return f"{format_count(count)} {what}{'' if count == 1 else 's'}"
