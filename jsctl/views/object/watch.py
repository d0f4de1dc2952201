"""`object watch`."""

from collections.abc import AsyncGenerator, Callable, Sequence

from jsctl.jetstream.object.model import ObjectInfo
from jsctl.units import format_bytes, format_time
from jsctl.views.events import Events
from jsctl.views.shared.text import plural


def events(
    batches: AsyncGenerator[Sequence[ObjectInfo], None], *, limit: int, stop: Callable[[], None] | None = None
) -> Events[ObjectInfo]:
    """Return the changes of a bucket, each with its views."""
    return Events(
        batches=batches,
        text=lambda found: text(found) + "\n",
        record=lambda found: found.data,
        limit=limit,
        noun="change",
        endless=True,
        stop=stop,
    )


def text(found: ObjectInfo) -> str:
    """Return one line: `[2026-11-21 13:00:04] PUT B > report.pdf: 1.0 KiB bytes in 1 chunks`."""
    label = f"{found.bucket} > {found.name}"
    if found.is_deleted:
        return f"[{format_time(found.modified)}] DEL {label}"
    if found.link is not None:
        return f"[{format_time(found.modified)}] LINK {label}: to {found.link}"
    size = f"{format_bytes(found.size)} in {plural(found.chunks, 'chunk')}"
    return f"[{format_time(found.modified)}] PUT {label}: {size}"
