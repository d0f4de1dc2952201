"""The `--data` half of `jsctl stream copy`: the flags that copy the messages, too."""

from dataclasses import dataclass
from typing import Any

from jsctl.base.units import format_bytes, format_count, format_duration, pluralize
from jsctl.commands.cli import declare_all, destructive, option
from jsctl.commands.observers.transfers import TerminalObserver
from jsctl.commands.options.data_loss import LossOptions, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.copy import CopyOptions, StreamCopy, copy_stream
from jsctl.jetstream.backup.copy_transfer import Endpoint
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Lines, Result
from jsctl.views.shared.text import transfer_rate
from jsctl.views.shared.transfers import copy_intent
from jsctl.views.stream import info as stream_info


def _show_copied(copy: StreamCopy) -> Result:
    """Return what was copied and compared, and the new stream's info page."""
    messages, size = int(copy.state["messages"]), int(copy.state["bytes"])
    part = f", {format_bytes(copy.moved)} of it now" if copy.begun_at != 1 else ""
    lines = [
        f"Copied Stream {copy.source} to {copy.target}: {pluralize(messages, 'message')}, "
        f"{format_bytes(size)}{part} in {format_duration(copy.duration)}, "
        f"{transfer_rate(copy.moved, copy.duration)}",
        *_list_comparison_lines(copy),
    ]
    document: Json = {
        "source": copy.source,
        "destination": copy.target,
        "messages": messages,
        "bytes": size,
        "moved_bytes": copy.moved,
        "begun_at": copy.begun_at,
        "duration_ns": copy.duration,
        "comparison": copy.comparison.record() if copy.comparison else None,
        "info": copy.info,
    }
    status = ExitStatus.FAILURE if copy.failed else ExitStatus.OK
    info_page = stream_info.info_page(copy.info)
    parts = [Lines(lines, "bad" if copy.failed else ""), *info_page.parts]
    return Result(parts, data=document, status=status)


def _list_comparison_lines(copy: StreamCopy) -> list[str]:
    comparison = copy.comparison
    if comparison is None:
        return ["Not compared"]
    compared = f"Compared {pluralize(comparison.compared, 'message')}"
    if comparison.failures:
        lines = [
            f"{compared}: {format_count(comparison.failures)} differ",
            *(f"  {sequence} is missing" for sequence in sorted(comparison.missing)),
            *(f"  {sequence} has another {part}" for sequence, part in sorted(comparison.different.items())),
        ]
    else:
        lines = [f"{compared}: sequences, subjects, headers, times and data are the same"]
    if comparison.removed:
        fired = ", or were schedules that fired" if copy.info["config"].get("allow_msg_schedules") else ""
        gone = f"{format_count(comparison.removed)} of them have since been removed from Stream {copy.source}"
        lines.append(gone + fired)
    return lines


@dataclass(frozen=True, slots=True)
class DataOptions:
    """The flags of `data_flags`. Contexts and domains: empty for those of the command line."""

    data: bool
    from_context: str
    to_context: str
    from_domain: str | None
    to_domain: str | None
    consumers: bool
    compare: bool
    progress: bool
    force: bool
    permits: LossOptions

    def __post_init__(self) -> None:
        if not self.data and (self.consumers or not self.compare):
            raise BadInput("--consumers and --no-compare need --data")


_CONTEXT: dict[str, Any] = {"metavar": "NAME", "default": "", "noun": "context"}

data_flags = declare_all(
    option("--data", is_flag=True, help="Also copy the messages, with their sequences and times"),
    option("--from-context", help="Context of the source", **_CONTEXT),
    option("--to-context", help="Context of the copy", **_CONTEXT),
    option("--from-domain", metavar="DOMAIN", default=None, help="JetStream domain of the source"),
    option("--to-domain", metavar="DOMAIN", default=None, help="JetStream domain of the copy"),
    option("--consumers", is_flag=True, help="With --data, also copy the consumers and their state"),
    option("--compare/--no-compare", default=True, help="With --data, compare all messages afterwards"),
    option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal"),
    loss_flags,
    destructive(
        "Remove what an unfinished copy left behind, without asking", "Only show what would be copied"
    ),
)
"""The flags of `DataOptions`."""


async def open_endpoints(
    env: Env, options: DataOptions, source: str, target: str
) -> tuple[Endpoint, Endpoint]:
    """Return both streams with their servers."""
    source_api = await env.jetstream(options.from_context or None, options.from_domain, only_reads=True)
    target_api = await env.jetstream(options.to_context or None, options.to_domain)
    return Endpoint(source_api, source), Endpoint(target_api, target)


async def copy_data(
    env: Env, options: DataOptions, source: Endpoint, target: Endpoint, config: Json
) -> Result:
    """Copy a stream with its messages. config: the copy's, without what the server adds."""
    observer = TerminalObserver(env, options.permits, progress=options.progress, force=options.force)
    copy_options = CopyOptions(consumers=options.consumers, compare=options.compare)
    if env.dry_run and await streams.fetch_info_or_none(target.api, target.stream) is None:
        await streams.check_level(target.api, config)
        state = (await streams.fetch_info(source.api, source.stream))["state"]
        env.announce(copy_intent(source.stream, target.stream, state))
    copy = await copy_stream(source, target, config, copy_options, observer)
    for warning in (*copy.warnings, *copy.notes):
        env.say(f"warning: {warning}")
    return _show_copied(copy)
