"""The streams that options name, and those that have the names of their patterns."""

from collections.abc import Sequence

from jsctl.base.command_lines import build_line
from jsctl.errors import NotFound
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.range_options import compile_name_pattern


def list_stream_names(connection: StreamConnection, options: ReadOptions) -> list[str]:
    """Return the streams to read: the named ones, and those that match the patterns now."""
    if options.stream:
        return [options.stream]
    names = [name for name in options.streams if "*" not in name]
    if len(names) < len(options.streams):
        names += [name for name in _list_all_names(connection, options) if is_named(options, name)]
    return list(dict.fromkeys(names))


def is_named(options: ReadOptions, name: str) -> bool:
    """Return whether the options name a stream, or have a pattern of its name."""
    names = (options.stream,) if options.stream else options.streams
    return any(compile_name_pattern(pattern).fullmatch(name) for pattern in names)


def list_existing_stream_names(connection: StreamConnection, options: ReadOptions) -> list[str]:
    """Return the streams to read. Raises NotFound when there is none."""
    names = list_stream_names(connection, options)
    if not names:
        raise NotFound(
            f"no stream has a name like {', '.join(options.streams)}", f"{build_line('stream ls')} shows all"
        )
    check_ranges(options, names)
    return names


def check_ranges(options: ReadOptions, names: Sequence[str]) -> None:
    """Raise NotFound when the options have the range of a stream that is not among `names`."""
    for name in options.ranges:
        if name not in names and options.fail_on_loss:
            raise NotFound(
                f"the options name offsets of stream {name}, which does not exist",
                f"{build_line('stream ls')} shows all",
            )


def _list_all_names(connection: StreamConnection, options: ReadOptions) -> list[str]:
    names: list[str] = []
    while True:
        page = connection.call(f"{options.prefix}.STREAM.NAMES", {"offset": len(names)}, options.timeout)
        page_names = page.get("streams") or []
        names += page_names
        if not page_names or len(names) >= page.get("total", 0):
            return sorted(names)
