"""Stream requests. Arguments and results are the server's own JSON."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import TypeVar

from jsctl import registry
from jsctl.base.loops import gather
from jsctl.errors import ApiError, Denied, JsctlError, MissingName
from jsctl.jetstream import paging
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import Collected
from jsctl.nats.error_codes import ErrorCode

T = TypeVar("T")

_IMPOSSIBLE: Json = {"subjects": ["a..b"], "max_age": 10**8, "duplicate_window": 2 * 10**8}
"""Two things that every server refuses: a subject that is none, and a window that is longer than the age."""


async def list_names(api: Api, subject: str = "") -> list[str]:
    """Return the names of all streams, or of those that store messages on `subject`."""
    return [name async for page in list_name_pages(api, subject) for name in page]


def list_name_pages(api: Api, subject: str = "") -> AsyncGenerator[list[str], None]:
    """Yield what `list_names` returns, sorted, a page at a time."""
    return paging.fetch_sorted_pages(api, "STREAM.NAMES", "streams", {"subject": subject} if subject else {})


def list_info_pages(api: Api) -> AsyncGenerator[list[Json], None]:
    """Yield the infos of all streams by name, a page at a time, so that no more than a page is in memory."""
    return paging.fetch_sorted_pages(
        api, "STREAM.LIST", "streams", name=lambda info: str(info["config"]["name"])
    )


async def collect(
    api: Api,
    extract: Callable[[Json], T | None],
    *,
    subject: str = "",
    memory: "paging.Memory[T] | None" = None,
) -> Collected[T]:
    """Return what `extract` takes from the STREAM.LIST entry of each stream that stores messages on `subject`
    (see `paging.collect`)."""
    return await paging.collect(
        api, "STREAM.LIST", "streams", extract, {"subject": subject} if subject else None, memory
    )


async def fetch_info(api: Api, name: str) -> Json:
    """Fetch a stream's configuration and state. Raises ApiError when it does not exist."""
    return await _with_name(api, name, api.call(f"STREAM.INFO.{name}"))


async def fetch_infos(api: Api, stream_names: list[str]) -> list[Json]:
    """Fetch the infos of several streams at once, in the order of `stream_names`."""
    return await gather(fetch_info(api, name) for name in stream_names)


async def fetch_info_or_none(api: Api, name: str) -> Json | None:
    """Fetch a stream's info as `fetch_info` does; return None when the stream does not exist."""
    try:
        return await fetch_info(api, name)
    except ApiError as error:
        if error.err_code != ErrorCode.STREAM_NOT_FOUND:
            raise
        return None


async def create(api: Api, config: Json) -> tuple[Json, bool]:
    """Create a stream; return its info, and False when it existed already with this configuration.

    Raises BadInput when the server is too old for it, ApiError when there is another of that name.
    """
    await check_level(api, config)
    name = str(config["name"])
    try:
        existing = await fetch_info_or_none(api, name)
    except Denied:
        existing = None  # an account may be allowed to create streams and not to look at them
    try:
        created = await _send_config(api, "CREATE", config)
    except ApiError as error:
        # The folders of an account's last stream go after its removal was answered, and new ones with them.
        if error.err_code != ErrorCode.STREAM_CREATE or "creating store" not in error.description:
            raise
        created = await _send_config(api, "CREATE", config)
    created.pop("did_create", None)
    # The server answers the same for a new stream and for an identical old one (ADR-1: idempotent).
    return created, existing is None or existing.get("created") != created.get("created")


async def update(api: Api, config: Json) -> Json:
    """Replace a stream's configuration; return its info. Raises BadInput, ApiError."""
    await check_level(api, config)
    return await _send_config(api, "UPDATE", config)


async def _send_config(api: Api, verb: str, config: Json) -> Json:
    name = str(config["name"])
    try:
        return await _with_name(api, name, api.call(f"STREAM.{verb}.{name}", config))
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_SUBJECT_OVERLAP:
            await check_overlap(api, config, error.hint)
        raise


async def check_overlap(api: Api, config: Json, hint: str, *, but: Set[str] = frozenset()) -> None:
    """Raise the ApiError of an overlap if another stream has subjects of this configuration, and name both.
    hint: of the error. but: names of streams that do not count.
    """
    name = str(config["name"])
    subjects = config.get("subjects") or ([] if config.get("mirror") or config.get("sources") else [name])
    if overlap := await describe_overlap(api, subjects, but={name, *but}):
        text = f"subjects overlap with an existing stream: {overlap}"
        raise ApiError(400, ErrorCode.STREAM_SUBJECT_OVERLAP, text, hint) from None


async def describe_overlap(api: Api, subjects: Sequence[str], *, but: Set[str] = frozenset()) -> str:
    """Say which of the subjects overlaps with which stream that is none of `but`, and its subjects; empty for
    none. What the login may not look up counts as none."""
    for subject in subjects:
        with suppress(JsctlError):
            for owner in await list_names(api, subject):
                if owner not in but:
                    return format_overlap(subject, owner, await _fetch_subjects(api, owner))
    return ""


def format_overlap(subject: str, owner: str, subjects: Sequence[str]) -> str:
    """Return the sentence about an overlap with a stream. subjects: of the stream, empty if unknown."""
    stored = f", which stores {', '.join(subjects)}" if subjects else ""
    return f"{subject} overlaps with stream {owner}{stored}"


async def _fetch_subjects(api: Api, name: str) -> Sequence[str]:
    with suppress(JsctlError):
        return (await fetch_info(api, name))["config"].get("subjects") or ()
    return ()


async def has_room(api: Api, config: Json) -> bool:
    """Return whether the server reserves the `max_bytes` of a new stream of this name, storage and replicas.

    A server checks that before the rest of a configuration (jetstream_api.go: jsStreamCreateRequest), so that
    it is asked with one that no server accepts. One in a cluster checks it last, and counts as one that has
    room, as where the login may not ask. Sends nothing that could create a stream.
    """
    try:
        await api.call(f"STREAM.CREATE.{config['name']}", {**config, **_IMPOSSIBLE})
    except ApiError as error:
        return error.err_code not in (
            ErrorCode.STORAGE_RESOURCES_EXCEEDED,
            ErrorCode.MEMORY_RESOURCES_EXCEEDED,
        )
    except JsctlError:
        pass
    return True


async def count_subjects(api: Api, name: str, subject_filter: str = ">") -> dict[str, int]:
    """Return the number of messages of each matching subject. The server sends 100,000 subjects at a time."""
    counts: dict[str, int] = {}
    while True:
        body = {"subjects_filter": subject_filter, "offset": len(counts)}
        reply = await api.call(f"STREAM.INFO.{name}", body)
        page = reply["state"].get("subjects") or {}
        count_before = len(counts)
        counts.update(page)
        if len(counts) == count_before or len(counts) >= int(reply.get("total", 0)):
            return counts  # all, or a server that repeats itself


async def delete(api: Api, name: str) -> None:
    """Remove a stream with its messages and consumers."""
    await _with_name(api, name, api.call(f"STREAM.DELETE.{name}"))


async def purge(api: Api, name: str, *, subject: str = "", sequence: int = 0, keep: int = 0) -> int:
    """Remove messages of a stream; return how many were removed.

    subject: only messages that match it. sequence: only messages before it. keep: how many of the newest
    messages stay.
    """
    limits = {"filter": subject, "seq": sequence, "keep": keep}
    body = {key: value for key, value in limits.items() if value}
    reply = await _with_name(api, name, api.call(f"STREAM.PURGE.{name}", body or None))
    return int(reply.get("purged", 0))


async def purge_each(api: Api, name: str, ends: Sequence[tuple[str, int]]) -> int:
    """Remove messages of many subjects with requests that are sent together; return how many were removed.

    ends: subjects, each with the sequence before which its messages are removed.
    """
    bodies = [{"filter": subject, "seq": sequence} for subject, sequence in ends]
    replies = await _with_name(api, name, api.call_each(f"STREAM.PURGE.{name}", bodies))
    return sum(int(reply.get("purged", 0)) for reply in replies)


async def delete_message(api: Api, name: str, sequence: int, *, erase: bool = True) -> None:
    """Remove a message from a stream. erase: overwrite it on the disk, which takes several times as long."""
    body = {"seq": sequence} if erase else {"seq": sequence, "no_erase": True}
    await api.call(f"STREAM.MSG.DELETE.{name}", body)


async def check_level(api: Api, config: Json) -> None:
    """Raise BadInput when the configuration needs a newer server; the server is asked only if it needs a
    level."""
    from jsctl.jetstream import api_levels  # most commands do not need these
    from jsctl.jetstream.stream.config import STREAM

    await api_levels.require(api, STREAM.find_needed_levels(config))


def needs_max_bytes(account_info: Json) -> bool:
    """Return whether every stream of the account must have a size limit. account_info: from `api_levels`."""
    limits = account_info.get("limits") or {}
    return bool(limits.get("max_bytes_required"))


def is_internal(name: str) -> bool:
    """Return whether a stream belongs to a key-value or object store, MQTT or the system."""
    return name.startswith(("KV_", "OBJ_", "MQTT_", "$"))


async def _with_name(api: Api, name: str, call: Awaitable[T]) -> T:
    """Await a request; add the stream's name to the errors for one that is missing or has another
    configuration."""
    try:
        return await call
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_NOT_FOUND:
            raise build_missing_error(api, name) from None
        if error.err_code == ErrorCode.STREAM_NAME_EXIST:
            description = f"stream {name} exists with another configuration"
            raise ApiError(error.code, error.err_code, description, error.hint) from None
        raise


def build_missing_error(api: Api, name: str) -> MissingName:
    """Return the error for a stream that does not exist."""
    text = registry.find_noun("stream").missing(name, domain=api.domain)
    return MissingName(ErrorCode.STREAM_NOT_FOUND, text, name, partial(list_names, api))
