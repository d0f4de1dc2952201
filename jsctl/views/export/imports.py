"""Results of `jsctl import`."""

from collections.abc import Sequence

from jsctl.base.units import SECOND, format_bytes, pluralize
from jsctl.views.result import Result, Text


def imported(stream: str, published: int, duplicates: int, size: int, duration: int) -> Result:
    """Show the result of `jsctl import`. size: bytes of payload. duration: ns."""
    dropped = f", {pluralize(duplicates, 'duplicate')} dropped" if duplicates else ", no duplicates"
    sentence = f"published {pluralize(published, 'message')} ({format_bytes(size)}) to {stream}"
    text = f"{sentence}{dropped}, in {duration / SECOND:.1f}s"
    seconds = round(duration / SECOND, 3)
    data = {
        "stream": stream,
        "published": published,
        "duplicates": duplicates,
        "bytes": size,
        "seconds": seconds,
    }
    return Result([Text(text)], data)


def preview(stream: str, messages: int, size: int, subjects: Sequence[str]) -> Result:
    """Show the result of `jsctl import --dry-run`. size: bytes of payload."""
    subject_list = ", ".join(subjects[:5]) + (", ..." if len(subjects) > 5 else "")
    text = f"would publish {pluralize(messages, 'message')} ({format_bytes(size)}) to {stream}"
    data = {"stream": stream, "messages": messages, "bytes": size, "subjects": list(subjects)}
    return Result([Text(f"{text}, on {subject_list}" if subjects else text)], data)
