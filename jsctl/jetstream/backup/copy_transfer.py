"""The first transfer of a copy: a snapshot of one stream, piped into a restore as the other.

Publishing would assign new sequences and times; a snapshot keeps both, and subjects and headers byte for
byte. An interrupted transfer leaves the first messages, and `copy_resume` transfers the others. A copy whose
comparison was not completed carries a mark (`marks`), and is compared when it is requested again.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple

from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.marks import add_mark, remove_mark, update_marked
from jsctl.jetstream.backup.s2 import FrameScanner
from jsctl.jetstream.backup.snapshot import Chunks, request_snapshot, restore_snapshot
from jsctl.jetstream.message import browse
from jsctl.jetstream.state import get_mark
from jsctl.jetstream.stream import requests as streams

ORIGIN = "jsctl.origin"
"""Metadata key of an incomplete copy; the value identifies its origin."""

LARGE = 1 << 30
"""Maximum number of bytes sent to a cluster in one transfer; more are sent in pieces, and so is the rest of a
copy that was interrupted."""

_SEALS = ("sealed", "deny_delete", "deny_purge")
_SENDING = ("sources", "republish", "subject_transform")
_APPLIED_AFTERWARDS = frozenset(
    (
        *_SEALS,
        *_SENDING,
        "subjects",
        "first_seq",
        "max_age",
        "max_msgs",
        "max_msgs_per_subject",
        "discard",
        "discard_new_per_subject",
        "duplicate_window",
        "consumer_limits",
        "subject_delete_marker_ttl",
        "allow_atomic",
        "allow_batched",
        "mirror_direct",
    )
)
"""Keys that a mirror may not have, or that would remove messages before all have arrived."""

_LIMITS = ("max_age", "max_msgs", "max_bytes", "max_msgs_per_subject", "allow_msg_ttl")
_MAX_NAME_LENGTH = 255
_WATCH_SECONDS = 1
"""Seconds for which a stream is watched to see whether it is being restored."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A stream, and the API through which it is reached."""

    api: Api
    stream: str


class CopyPlan(NamedTuple):
    """The plan of a copy.

    landing_config: the configuration while messages arrive; None when an interrupted copy could not be
    resumed. in_pieces: whether to transfer the messages piece by piece from the start (`copy_resume`).
    """

    landing_config: Json | None
    in_pieces: bool = False


async def plan_copy(
    source: Endpoint,
    target: Endpoint,
    config: Json,
    *,
    consumers: bool,
    was_interrupted: bool,
) -> CopyPlan:
    """Let the server validate the configuration, and decide how to copy.

    consumers: whether they are copied, too. was_interrupted: whether an earlier transfer was. Raises
    BadInput, ApiError, JsctlError.
    """
    await streams.check_level(target.api, config)
    if source.stream != target.stream:
        await api_levels.require(target.api, {ApiLevel.V2_15: ["a copy of messages under another name"]})
    await streams.check_overlap(target.api, {**config, "name": target.stream}, "--subjects gives it others")
    landing_config = await _build_landing_config(source, target, config, consumers)
    if landing_config is None:
        return CopyPlan(None)
    clustered = await _try_config(target, {**config, "name": target.stream})
    state = (await streams.fetch_info(source.api, source.stream))["state"]
    # A cluster keeps nothing of an interrupted restore.
    large = was_interrupted or int(state["bytes"]) > LARGE
    return CopyPlan(landing_config, in_pieces=clustered and not consumers and large)


async def transfer_stream(
    source: Endpoint,
    target: Endpoint,
    config: Json,
    plan: CopyPlan,
    *,
    consumers: bool,
    advance: Advance,
) -> tuple[Json, Json]:
    """Create the target with the source's messages.

    advance: called with the number of bytes sent, before compression. After a failure the transferred
    messages stay, if the plan allows `copy_resume` to continue with them; otherwise nothing is left of the
    target.

    Returns its info, marked as not compared, and the state of the source that was copied.
    """
    config = {**config, "name": target.stream}
    landing_config = plan.landing_config
    async with request_snapshot(source.api, source.stream, consumers=consumers) as snapshot:

        async def report_chunks() -> Chunks:
            scanner = FrameScanner()
            async with aclosing(snapshot.chunks) as chunks:
                async for chunk in chunks:
                    unpacked_before = scanner.unpacked
                    scanner.scan(chunk)
                    yield chunk
                    advance(scanner.unpacked - unpacked_before)

        async with aclosing(report_chunks()) as chunks:
            info = await restore_snapshot(
                target.api,
                landing_config or config,
                snapshot.state,
                chunks,
                keep_partial=landing_config is not None,
            )
    if landing_config:
        return await apply_config(target, config), snapshot.state
    if get_mark(info):
        marked = add_mark(remove_mark(info["config"]), "compare")
        info = await update_marked(target.api, marked)
    return info, snapshot.state


async def apply_config(target: Endpoint, config: Json) -> Json:
    """Apply the final configuration, except the seal, to a stream with all messages; return its info, marked
    as not compared.

    Raises JsctlError; all messages then stay.
    """
    unsealed = {key: value for key, value in config.items() if key not in _SEALS}
    marked = add_mark({**unsealed, "name": target.stream}, "compare")
    return await update_marked(
        target.api, marked, hint="the copy continues when it is started again with other flags"
    )


async def finish_copy(target: Endpoint, info: Json, config: Json) -> Json:
    """Remove the mark, and seal the stream if the configuration does; return the info. Raises JsctlError."""
    if not get_mark(info):
        return info
    seals = {key: True for key in _SEALS if config.get(key)}
    return await update_marked(target.api, {**remove_mark(info["config"]), **seals})


def is_comparison_pending(info: Json) -> bool:
    """Return whether a stream is a copy with all messages whose comparison was not completed."""
    return get_mark(info).startswith("compare")


def rebuild_state(state: Json, copy_info: Json) -> Json:
    """Return the state of the source at the time of the copy, as far as it can still be determined.

    state: the source's present one. The result ends with the last message of the copy; if limits remove
    the first messages, it begins with the copy's first one.
    """
    copy_state, config = copy_info["state"], copy_info["config"]
    limited = any(int(config.get(key) or 0) > 0 for key in _LIMITS) or config.get("retention") == "interest"
    first = max(int(state["first_seq"]), int(copy_state["first_seq"]) if limited else 0)
    last = min(int(state["last_seq"]), int(copy_state["last_seq"]))
    return {**state, "first_seq": first, "last_seq": last}


async def wait_until_idle(endpoint: Endpoint, info: Json) -> Json:
    """Return the info of the stream that an interrupted transfer left, a second after `info`.

    Raises JsctlError when the stream has changed: a transfer is still running.
    """
    await asyncio.sleep(_WATCH_SECONDS)
    current = await streams.fetch_info(endpoint.api, endpoint.stream)
    if current["state"]["last_seq"] != info["state"]["last_seq"]:
        raise JsctlError(f"stream {endpoint.stream} is being restored", "wait for that to end")
    return current


async def is_untouched(source: Endpoint, target: Endpoint, info: Json) -> bool:
    """Return whether the last message that an interrupted transfer left is one of the source's, so that no
    other client published to the copy.

    Raises JsctlError when a transfer is still running.
    """
    state = (await wait_until_idle(target, info))["state"]
    last = int(state["last_seq"])
    if not int(state["messages"]):
        return True
    try:
        copied = await browse.fetch(target.api, target.stream, last)
        return await browse.fetch(source.api, source.stream, last) == copied
    except NotFound:
        return False


def name_rest_stream(stream: str) -> str:
    """Return the name of the stream that holds the rest of an interrupted copy (see `copy_resume`)."""
    return f"{stream}_jsctl_rest"


def name_rest_subject(stream: str) -> str:
    """Return the subject of that stream, which must have one although nobody publishes to it."""
    return f"jsctl.rest.{stream}"


async def fetch_rest(target: Endpoint) -> Json | None:
    """Fetch the info of that stream; None if there is none. Raises JsctlError when it is none of ours."""
    name = name_rest_stream(target.stream)
    rest = await streams.fetch_info_or_none(target.api, name)
    if rest is not None and not get_mark(rest):
        raise JsctlError(f"the copy needs the name {name}, which another stream has", "remove that stream")
    return rest


async def describe_origin(source: Endpoint, consumers: bool) -> str:
    """Return the text that identifies a copy's origin: the stream, and when it was created, as another may
    get its name."""
    created = (await streams.fetch_info(source.api, source.stream)).get("created", "")
    return f"{source.stream} {created}{' with consumers' if consumers else ''}"


async def _build_landing_config(
    source: Endpoint, target: Endpoint, config: Json, consumers: bool
) -> Json | None:
    """Return the configuration while messages arrive; None if an interrupted copy could not be resumed.

    It is a mirror of a stream that does not exist yet: only a mirror can receive further messages with their
    sequences and times. Nobody can publish to it, and no limit removes anything.
    """
    too_long = len(name_rest_stream(target.stream)) > _MAX_NAME_LENGTH
    # A mirror allows neither, and a server never arms a schedule that it stored while they were not allowed.
    if any(config.get(key) for key in ("mirror", "allow_msg_counter", "allow_msg_schedules")) or too_long:
        return None
    for api in {source.api, target.api}:
        api_info = (await api_levels.fetch_account_info(api)).get("api") or {}
        if int(api_info.get("level", 0)) < ApiLevel.V2_15:
            return None  # before 2.15 an interrupted restore leaves nothing
    landing = {key: value for key, value in config.items() if key not in _APPLIED_AFTERWARDS}
    if landing.get("retention") == "interest":
        landing["retention"] = "limits"
    return {
        **landing,
        "name": target.stream,
        "mirror": {"name": name_rest_stream(target.stream)},
        "metadata": {**(config.get("metadata") or {}), ORIGIN: await describe_origin(source, consumers)},
    }


async def _try_config(target: Endpoint, config: Json) -> bool:
    """Let the server validate a configuration that is otherwise sent only after all messages, by creating an
    empty stream with it; return whether the server is in a cluster.

    Raises ApiError.
    """
    rest_name = name_rest_stream(target.stream)
    trial = {key: value for key, value in config.items() if key not in (*_SEALS, *_SENDING)}
    trial |= {"name": rest_name, "subjects": [name_rest_subject(target.stream)]}
    if await fetch_rest(target) is not None:
        await streams.delete(target.api, rest_name)
    info, _ = await streams.create(target.api, add_mark(trial))
    await streams.delete(target.api, rest_name)
    return "cluster" in info
