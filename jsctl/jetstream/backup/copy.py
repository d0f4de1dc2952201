"""Copying a stream with its messages: the whole procedure, with interruptions and the comparison at the end.

copy_transfer   the first transfer: a snapshot, restored under the copy's name
copy_resume     the transfer of messages that an interrupted copy lacks
compare         the comparison of both streams
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from jsctl.errors import JsctlError, Unreachable
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.compare import Comparison, compare_streams
from jsctl.jetstream.backup.copy_resume import (
    CannotResume,
    copy_in_pieces,
    is_broken_copy,
    remove_broken_copy,
    resume_copy,
    wait_until_stable,
)
from jsctl.jetstream.backup.copy_transfer import (
    ORIGIN,
    Endpoint,
    apply_config,
    describe_origin,
    finish_copy,
    is_comparison_pending,
    is_untouched,
    plan_copy,
    rebuild_state,
    transfer_stream,
)
from jsctl.jetstream.backup.events import (
    ComparisonResumed,
    CopyInterrupted,
    CopyRestarted,
    CopyResumed,
    CopyStarted,
    Observer,
    Phase,
    RemoveOtherCopy,
    RemoveUnfinished,
)
from jsctl.jetstream.backup.snapshot import compare_states
from jsctl.jetstream.backup.stream_restore import explain_differences, remove_unfinished
from jsctl.jetstream.message.held import warn_of_ids, warn_of_schedules
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """Options of a copy. consumers: copy them and their state, too. compare: compare all messages
    afterwards."""

    consumers: bool = False
    compare: bool = True


class StreamCopy(NamedTuple):
    """A finished copy.

    state: of the source, as it was copied. moved: bytes sent in this run. begun_at: sequence of the first
    message sent in this run, 0 for none. warnings: what the copy lacks, if its own settings explain that.
    notes: what servers do, or do not do, for its messages. comparison: None until it is done, or if it is not
    wanted. duration: ns, without the comparison.
    """

    source: str
    target: str
    info: Json
    state: Json
    moved: int
    begun_at: int
    warnings: list[str]
    comparison: Comparison | None = None
    duration: int = 0
    notes: Sequence[str] = ()

    @property
    def failed(self) -> bool:
        """Whether messages differ and no limit of the copy explains that."""
        return self.comparison is not None and bool(self.comparison.failures) and not self.warnings


async def copy_stream(
    source: Endpoint, target: Endpoint, config: Json, options: CopyOptions, observer: Observer
) -> StreamCopy:
    """Copy a stream with its messages, and compare them.

    A copy that was interrupted during its transfer or before its comparison is continued. config: the copy's,
    without the keys that the server adds. The observer is asked before the remains of an unfinished restore
    or of another copy are removed. Raises BadInput, ApiError, JsctlError, Cancelled.
    """
    started = time.monotonic_ns()
    existing = await streams.fetch_info_or_none(target.api, target.stream)
    copy: StreamCopy | None = None
    if existing is not None and is_comparison_pending(existing):
        observer.notify(ComparisonResumed(target.stream))
        source_state = (await streams.fetch_info(source.api, source.stream))["state"]
        state = rebuild_state(source_state, existing)
        copy = StreamCopy(source.stream, target.stream, existing, state, 0, 0, [])
    elif existing is not None and is_broken_copy(existing):
        copy = await _resume(source, target, existing, config, options, observer)
    elif existing is not None:
        await _remove_unfinished(source, target, existing, observer)
    if copy is None:
        was_interrupted = existing is not None
        copy = await _transfer(source, target, config, options, observer, was_interrupted=was_interrupted)
    copy = copy._replace(duration=time.monotonic_ns() - started)
    if options.compare:
        total = int(copy.state.get("messages", 0))
        with observer.progress(Phase("compare", target.stream), total) as advance:
            copy = copy._replace(comparison=await compare_streams(source, target, copy.state, advance))
    if copy.failed:
        return copy
    info = await finish_copy(target, copy.info, config)
    notes = [*warn_of_ids(info), *warn_of_schedules(config, source.stream, target.stream)]
    return copy._replace(info=info, notes=notes)


async def _transfer(
    source: Endpoint,
    target: Endpoint,
    config: Json,
    options: CopyOptions,
    observer: Observer,
    *,
    was_interrupted: bool,
) -> StreamCopy:
    """Transfer all messages; return the copy, marked as not yet compared. was_interrupted: whether an earlier
    transfer was."""
    plan = await plan_copy(
        source, target, config, consumers=options.consumers, was_interrupted=was_interrupted
    )
    # The size is approximate: the snapshot is taken a moment later.
    source_state = (await streams.fetch_info(source.api, source.stream))["state"]
    size = int(source_state.get("bytes", 0))
    with _reporting_interruption(target, observer, resumable=plan.landing_config is not None):
        observer.notify(CopyStarted(source.stream, int(source_state.get("messages", 0)), size))
        with observer.progress(Phase("transfer", source.stream), size) as advance:
            info: Json | None = None
            if plan.in_pieces and plan.landing_config:
                try:
                    state = await copy_in_pieces(source, target, plan.landing_config, advance)
                    await _find_warnings(source, target, config, state)
                    info = await apply_config(target, config)
                except CannotResume as error:
                    observer.notify(CopyRestarted(target.stream, error.message, all_at_once=True))
                    await remove_broken_copy(target)
            if info is None:
                info, state = await transfer_stream(
                    source, target, config, plan, consumers=options.consumers, advance=advance
                )
    differences = compare_states(state, info["state"])
    warnings = explain_differences(target.stream, config, differences, origin=source.stream)
    return StreamCopy(source.stream, target.stream, info, state, int(state["bytes"]), 1, warnings)


async def _resume(
    source: Endpoint,
    target: Endpoint,
    existing: Json,
    config: Json,
    options: CopyOptions,
    observer: Observer,
) -> StreamCopy | None:
    """Transfer the messages that an interrupted copy lacks; return the copy, marked as not yet compared, or
    None when it was removed and has to start over."""
    name = target.stream
    metadata = existing["config"].get("metadata") or {}
    if metadata.get(ORIGIN) != await describe_origin(source, options.consumers):
        await observer.confirm(RemoveOtherCopy(name, int(existing["state"]["messages"])))
        await remove_broken_copy(target)
        return None
    state = (await wait_until_stable(target, existing))["state"]
    if not int(state["last_seq"]):
        observer.notify(CopyRestarted(name, nothing_left=True))
        await remove_broken_copy(target)
        return None
    source_state = (await streams.fetch_info(source.api, source.stream))["state"]
    missing = max(int(source_state["bytes"]) - int(state["bytes"]), 0)
    begun_at = int(state["last_seq"]) + 1
    observer.notify(CopyResumed(name, begun_at, missing))
    try:
        with (
            observer.progress(Phase("transfer", name), missing) as advance,
            _reporting_interruption(target, observer, resumable=True),
        ):
            copied_state = await resume_copy(source, target, advance)
            warnings = await _find_warnings(source, target, config, copied_state)
            info = await apply_config(target, config)
    except CannotResume as error:
        observer.notify(CopyRestarted(name, error.message))
        await remove_broken_copy(target)
        return None
    return StreamCopy(source.stream, name, info, copied_state, missing, begun_at, warnings)


async def _find_warnings(source: Endpoint, target: Endpoint, config: Json, state: Json) -> list[str]:
    """Return what a resumed copy lacks. Raises JsctlError when no limit of the copy explains that.

    A copy may also have messages that have left the source in the meantime.
    """
    copied = (await streams.fetch_info(target.api, target.stream))["state"]
    lacks_messages = int(copied["messages"]) < int(state["messages"])
    differences = compare_states(state, copied) if lacks_messages else []
    return explain_differences(target.stream, config, differences, origin=source.stream)


@contextmanager
def _reporting_interruption(target: Endpoint, observer: Observer, *, resumable: bool) -> Iterator[None]:
    """Notify the observer of an interruption, if the transferred messages stay."""
    try:
        yield
    except (asyncio.CancelledError, Unreachable):
        if resumable:
            observer.notify(CopyInterrupted(target.stream))
        raise


async def _remove_unfinished(source: Endpoint, target: Endpoint, existing: Json, observer: Observer) -> None:
    """Remove the remains of an unfinished restore or copy; ask first when others may have published to it.

    Raises JsctlError when another stream has that name, Cancelled.
    """
    name = target.stream
    if not get_mark(existing):
        raise JsctlError(f"stream {name} already exists", "choose another name, or remove it first")
    if await is_untouched(source, target, existing):
        observer.notify(CopyRestarted(name))
    else:
        info = await streams.fetch_info(target.api, name)
        messages, last = int(info["state"]["messages"]), int(info["state"]["last_seq"])
        question = RemoveUnfinished(name, info["config"], messages, last, other_than=source.stream)
        await remove_unfinished(target.api, question, observer)
        return
    await streams.delete(target.api, name)
