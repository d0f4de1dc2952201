"""`object watch`."""

from collections.abc import AsyncGenerator, Callable, Sequence

from jsctl.base.units import format_bytes, format_time, pluralize
from jsctl.jetstream.object.model import ObjectInfo
from jsctl.views.events import End, Events, Presentation


def events(
    batches: AsyncGenerator[Sequence[ObjectInfo], None], *, limit: int, stop: Callable[[], None] | None = None
) -> Events[ObjectInfo]:
    """Return the changes of a bucket, each with its views."""
    return Events(
        batches=batches,
        shown=Presentation(
            text=lambda object_info: text(object_info) + "\n", record=lambda object_info: object_info.data
        ),
        end=End(limit=limit, noun="change", endless=True, stop=stop),
    )


def text(object_info: ObjectInfo) -> str:
    """Return one line: `[2026-11-21 13:00:04] PUT B > report.pdf: 1.0 KiB in 1 chunk`."""
    label = f"{object_info.bucket} > {object_info.name}"
    if object_info.is_deleted:
        return f"[{format_time(object_info.modified)}] DEL {label}"
    if object_info.link is not None:
        return f"[{format_time(object_info.modified)}] LINK {label}: to {object_info.link}"
    size = f"{format_bytes(object_info.size)} in {pluralize(object_info.chunks, 'chunk')}"
    return f"[{format_time(object_info.modified)}] PUT {label}: {size}"
