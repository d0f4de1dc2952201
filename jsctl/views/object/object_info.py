"""The info page of an object, without the fields of buckets, which take longer to load."""

from jsctl.base.units import format_bytes
from jsctl.jetstream.object.model import ObjectInfo, parse_digest
from jsctl.views.result import Field, InfoPage, Result, Section


def one_object(object_info: ObjectInfo) -> Result:
    """Show an object; the document is its description as the bucket holds it, with `mtime`."""
    digest = parse_digest(object_info.digest)
    fields = [
        Field("Description", object_info.description),
        Field("Link to", str(object_info.link) if object_info.link else None),
        Field(
            "Size",
            f"{format_bytes(object_info.size)} ({object_info.size:,} bytes)"
            if not object_info.link
            else None,
        ),
        Field("Modification Time", object_info.modified, "time"),
        Field("Chunks", object_info.chunks if not object_info.link else None, "count"),
        Field("Digest", f"SHA-256 {digest.hex()}" if digest else object_info.digest),
        Field(
            "Headers",
            [f"{name}: {item}" for name, values in object_info.headers.items() for item in values] or None,
        ),
        Field(
            "Metadata", [f"{name}: {value}" for name, value in sorted(object_info.metadata.items())] or None
        ),
    ]
    present = [field for field in fields if field.value is not None and field.value != ""]
    heading = f"Object information for {object_info.bucket} > {object_info.name}"
    return Result([InfoPage(heading, [Section("", present)])], data=object_info.data)
