"""`backup restore stream`."""

from jsctl.base.units import format_duration, pluralize
from jsctl.jetstream.backup.stream_restore import StreamRestore
from jsctl.views.result import Result, Text
from jsctl.views.shared.text import transfer_rate
from jsctl.views.stream import info as stream_info


def restored(restore: StreamRestore) -> Result:
    """Return what was restored, and the stream's info page."""
    backup, info, duration = restore.backup, restore.info, restore.duration
    summary = (
        f'Restored stream "{info["config"]["name"]}" in {format_duration(round(duration, -9))}, '
        f"{transfer_rate(backup.size, duration)}, {pluralize(info['state']['messages'], 'message')}"
    )
    info_page = stream_info.info_page(info)
    return Result([Text(summary), *info_page.parts], data=info_page.data)
