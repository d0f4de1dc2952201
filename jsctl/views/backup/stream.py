"""`backup stream`."""

from jsctl.base.units import format_bytes, format_duration, pluralize
from jsctl.jetstream.backup.files import META
from jsctl.jetstream.backup.stream_backup import StreamBackup
from jsctl.views.result import Lines, Result
from jsctl.views.shared.text import transfer_rate


def done(backup: StreamBackup) -> str:
    """Return the line that ends the progress of a backup."""
    size = int(backup.manifest["unpacked"])
    rate = transfer_rate(size, backup.duration)
    return f"done! [{format_bytes(size)} in {format_duration(backup.duration)}; {rate}]"


def saved(backup: StreamBackup) -> Result:
    """Return what was backed up, and where it is."""
    manifest, duration = backup.manifest, backup.duration
    file = next(file for name, file in manifest["files"].items() if name != META)
    data = {
        "stream": backup.stream,
        "target": str(backup.target),
        "messages": int(manifest["state"].get("messages", 0)),
        "bytes": int(manifest["unpacked"]),
        "stored_bytes": int(file["bytes"]),
        "chunks": int(manifest["chunks"]),
        "consumers": len(manifest.get("consumers") or []),
        "sha256": file["sha256"],
        "duration_ns": duration,
    }
    links = []
    if "since" in manifest:
        chain = manifest["chain"]
        data |= {"since": manifest["since"]["path"], "new": chain["new"], "gone": chain["gone"]}
        links = [
            f"{pluralize(data['new'], 'message')} new, {pluralize(data['gone'], 'message')} gone since "
            f"{data['since']}, which must stay in its place"
        ]
    lines = (
        f"Received {format_bytes(data['stored_bytes'])} compressed data in "
        f'{pluralize(data["chunks"], "chunk")} for stream "{backup.stream}" in {format_duration(duration)}, '
        f"{transfer_rate(data['bytes'], duration)}, {format_bytes(data['bytes'])} uncompressed",
        f"The backup with {pluralize(data['messages'], 'message')} is in {backup.target}",
        *links,
        f"SHA-256 {data['sha256']}",
    )
    return Result([Lines(lines)], data=data)
