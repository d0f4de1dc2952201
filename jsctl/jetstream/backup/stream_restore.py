"""Restoring one stream from its backup.

Servers since 2.15 create the stream first and fill it afterwards. So that it takes no messages until it is
whole, it has a subject of its own on which nobody publishes, and no sources, and gets its final configuration
once it has all messages. What an interrupted restore leaves carries a mark (`marks`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.loops import run_in_thread
from jsctl.base.units import format_rfc3339, parse_time_ns
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup.chain import opening_snapshot
from jsctl.jetstream.backup.copy_transfer import name_rest_subject
from jsctl.jetstream.backup.events import (
    Advance,
    DigestMissing,
    Newer,
    Observer,
    Phase,
    RemoveUnfinished,
    RestoreStarted,
    TakeMessages,
)
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.marks import remove_mark, update_marked
from jsctl.jetstream.backup.snapshot import Chunks, compare_states, restore_snapshot
from jsctl.jetstream.backup.verification import read_backup, verify_backup
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.gaps import count_deleted_before
from jsctl.jetstream.message.held import warn_of_ids, warn_of_schedules
from jsctl.jetstream.message.takers import list_taken
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams

_READ_SIZE = 512 << 10
_APPLIED_AFTERWARDS = frozenset(("sealed", "deny_delete", "deny_purge", "sources", "subject_transform"))
_WATCH_SECONDS = 1
"""Seconds without a change after which nobody fills a stream."""
_IDLE_SECONDS = 15
"""Seconds after which a stream that still grows is being restored; a server waits 5 s for a killed client."""
OTHER_SUBJECTS = "jsctl backup restore stream --subjects gives it other subjects"
_LIMITS = ("max_age", "max_msgs", "max_bytes", "max_msgs_per_subject")
_QUEUE_HINT = "servers remove from a restored work queue what its consumers have passed"


class StreamRestore(NamedTuple):
    """A stream that was restored.

    warnings: what the stream lacks of the backup, if its own settings explain that, and what its server does
    not do for its messages.
    """

    backup: Backup
    info: Json
    warnings: list[str]
    duration: int  #: ns, without the verification


async def restore_stream(
    connect: Callable[[], Awaitable[Api]], backup: Backup, config: Json, observer: Observer
) -> StreamRestore:
    """Verify a backup, and create a stream from it.

    connect: opens the API; only called for an intact backup. config: the new stream's, with its name. The
    observer is asked before the remains of an unfinished restore are removed. Raises BadInput for a damaged
    backup, JsctlError when the stream already exists, or when the new stream lacks messages without an
    explanation, Cancelled.
    """
    with observer.progress(Phase("verify", backup.stream), backup.size) as advance:
        await run_in_thread(verify_backup, backup, advance=advance)
    if not backup.manifest:
        observer.notify(DigestMissing(backup.path))
    api = await connect()
    name = str(config["name"])
    existing = await streams.fetch_info_or_none(api, name)
    if existing is not None and not get_mark(existing):
        raise JsctlError(f"stream {name} already exists", "restore under another name, or remove it first")
    if "mirror" not in config:
        await streams.check_overlap(api, config, OTHER_SUBJECTS)
    for question in await list_takings(api, config):
        await observer.confirm(question)
    if existing is not None:
        await remove_unfinished(api, await describe_unfinished(api, existing, backup), observer)
    started = time.monotonic_ns()
    observer.notify(RestoreStarted(name, backup.stream, backup.path, backup.size))
    with observer.progress(Phase("transfer", name), backup.size) as advance:
        info, differences = await load_stream(api, backup, config, advance)
    warnings = list_warnings(api, backup, config, info, differences)
    if name != backup.stream and await streams.fetch_info_or_none(api, backup.stream) is not None:
        warnings += warn_of_schedules(config, backup.stream, name)
    return StreamRestore(backup, info, warnings, time.monotonic_ns() - started)


async def load_stream(api: Api, backup: Backup, config: Json, advance: Advance) -> tuple[Json, list[str]]:
    """Create a stream from a verified backup; return its info, and how its state differs from the backup's.

    advance: called with the number of bytes of the file that were sent.
    """
    await streams.check_level(api, config)  # an older server would ignore what it does not know
    landing = {key: value for key, value in config.items() if key not in _APPLIED_AFTERWARDS}
    if "mirror" not in config:  # nobody can publish to a mirror
        landing["subjects"] = [name_rest_subject(str(config["name"]))]
    is_renamed = config["name"] != backup.config["name"]
    if is_renamed:
        await api_levels.require(api, {ApiLevel.V2_15: ["a restore under another name"]})

    async def read() -> Chunks:
        with opening_snapshot(backup) as file:
            while chunk := await run_in_thread(file.read, _READ_SIZE):
                yield chunk

    async with aclosing(read()) as chunks:
        info = await restore_snapshot(
            api, landing, backup.state, chunks, advance=advance, keep_copying=not is_renamed
        )
    name = str(config["name"])
    final = {key: value for key, value in remove_mark(info["config"]).items() if key != "subjects"}
    final |= {key: config[key] for key in ("subjects", *_APPLIED_AFTERWARDS) if key in config}
    differences = await _compare_with_backup(backup, info.get("state") or {})
    return await update_marked(
        api, final, hint=f"correct it with {build_line('stream edit', name)}"
    ), differences


async def _compare_with_backup(backup: Backup, state: Json) -> list[str]:
    """Return how the state of a restored stream differs from what a backup holds.

    The backup's own state is that of the moment in which the server began to send it: what is deleted after
    that, and before the server comes to it, is not sent.
    """
    differences = compare_states(backup.state, state)
    if not differences:
        return []
    with suppress(JsctlError):  # of servers before 2.15
        held = (await run_in_thread(read_backup, backup, advance=lambda size: None)).totals.messages
        return compare_states({**backup.state, "messages": held}, state)
    return differences


async def list_takings(api: Api, config: Json) -> list[TakeMessages]:
    """Return the questions whether a stream's mirror and sources may take messages out of work queues."""
    return [
        TakeMessages(str(config["name"]), taken.origin, taken.info["config"], taken.loss)
        for taken in await list_taken(api, config)
        if taken.info and taken.loss
    ]


async def remove_unfinished(api: Api, question: RemoveUnfinished, observer: Observer) -> None:
    """Remove what an unfinished restore left, once the observer has agreed. Raises JsctlError if it took
    messages meanwhile."""
    await observer.confirm(question)
    state = (await streams.fetch_info(api, question.stream))["state"]
    if int(state["last_seq"]) != question.last_seq:
        raise JsctlError(
            f"nothing was changed: stream {question.stream} took messages meanwhile", "run it again"
        )
    await streams.delete(api, question.stream)


async def describe_unfinished(api: Api, info: Json, backup: Backup) -> RemoveUnfinished:
    """Return the question whether to remove what an unfinished restore left, which names messages that are
    newer than the backup.

    info: that stream's. Raises JsctlError if it is still being filled.
    """
    name, last = str(info["config"]["name"]), -1
    deadline = time.monotonic() + _IDLE_SECONDS
    while int(info["state"]["last_seq"]) != last:
        if time.monotonic() > deadline:
            raise JsctlError(f"stream {name} is being restored", "wait for that to end")
        last = int(info["state"]["last_seq"])
        await asyncio.sleep(_WATCH_SECONDS)
        info = await streams.fetch_info(api, name)
    newer = await _find_newer(api, info, backup)
    return RemoveUnfinished(name, info["config"], int(info["state"]["messages"]), last, newer=newer)


async def _find_newer(api: Api, info: Json, backup: Backup) -> Newer | None:
    """Return the messages of a stream that are newer than a backup; None if there are none."""
    name, state = str(info["config"]["name"]), info["state"]
    newest, backed_up = str(state.get("last_ts") or ""), str(backup.state.get("last_ts") or "")
    if not int(state["messages"]):
        return None
    if not backup.state.get("messages"):
        first = int(state["first_seq"])
    elif parse_time_ns(newest) <= parse_time_ns(backed_up):
        return None
    else:
        message = await browse.fetch_since(api, name, format_rfc3339(parse_time_ns(backed_up) + 1))
        if message is None:  # those that are newer were deleted
            return None
        first = message.sequence
    before = first - int(state["first_seq"]) - await count_deleted_before(api, info, first)
    return Newer(first, int(state["last_seq"]), int(state["messages"]) - before)


async def holds_all(api: Api, info: Json, backup: Backup) -> bool:
    """Return whether an existing stream holds the messages of a backup, and perhaps newer ones. info: the
    stream's."""
    state, last = info["state"], int(backup.state.get("last_seq", 0))
    if not compare_states(backup.state, state):
        return bool(state.get("last_ts") == backup.state.get("last_ts"))
    name, total = str(info["config"]["name"]), int(state["messages"])
    count = await browse.count_before(api, name, last + 1, ">", total)
    if count is None:  # without direct gets: as if none of the newer messages had been deleted
        count = total - (int(state["last_seq"]) - last)
    messages = int(backup.state.get("messages", 0))
    if count != messages or not messages:
        return count == messages
    try:
        message = await browse.fetch(api, name, last)
    except NotFound:
        return False
    return message.timestamp == str(backup.state.get("last_ts"))


def list_warnings(api: Api, backup: Backup, config: Json, info: Json, differences: list[str]) -> list[str]:
    """Return warnings about a restored stream. config: what it was restored with. differences: see
    `explain_differences`, also for what is raised."""
    held, had = (int(state.get("messages", 0)) for state in (info.get("state") or {}, backup.state))
    fewer = f"Stream {config['name']} has {held:,} of {had:,} messages: the others were deleted while the"
    return [
        *([f"{fewer} backup was made"] if held < had and not differences else []),
        *_explain_placement(api, config),
        *explain_differences(str(config["name"]), config, differences),
        *warn_of_ids(info),
    ]


def _explain_placement(api: Api, config: Json) -> list[str]:
    """Return a warning if a stream should be placed in a cluster, and the server ignores that."""
    cluster = (config.get("placement") or {}).get("cluster")
    if not cluster or api.connection.server_info.get("cluster"):
        return []
    return [f"the server is not in a cluster, so Stream {config['name']} is not placed in cluster {cluster}"]


def explain_differences(name: str, config: Json, differences: list[str], *, origin: str = "") -> list[str]:
    """Return warnings for what a stream lacks, if its own limits explain that.

    differences: from `compare_states`. origin: the name of the stream that it is a copy of; empty for a
    backup. Raises JsctlError when no limit explains them.
    """
    if not differences:
        return []
    reasons = [key for key in _LIMITS if int(config.get(key) or 0) > 0]
    if config.get("retention") == "interest":
        reasons.append("interest retention")
    if config.get("allow_msg_ttl"):
        reasons.append("message TTLs")
    if config.get("allow_msg_schedules"):
        reasons.append("schedules that were due")
    whole = f"stream {origin}" if origin else "the backup"
    text = f"Stream {name} differs from {whole}: {', '.join(differences)}"
    is_queue = config.get("retention") == "workqueue"
    if not reasons:
        way = "without --consumers" if origin else "with `retention: limits` in a file for --config"
        raise JsctlError(text, f"{_QUEUE_HINT}; all stays {way}" if is_queue else "")
    reasons += ["consumers that have passed messages of a work queue"] * is_queue
    return [f"{text}; its settings ({', '.join(reasons)}) apply to restored messages, too"]
