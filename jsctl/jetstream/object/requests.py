"""Objects: their descriptions, found, listed, replaced and removed. Chunks are in `upload` and `download`."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.errors import ApiError, JsctlError, MissingName, NotFound
from jsctl.jetstream.api import Api, Json, is_conflict
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.publish import parse_ack, parse_ack_sequence
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import (
    Link,
    ObjectInfo,
    build_chunk_subject,
    build_info_filter,
    build_info_subject,
    build_stream_name,
    decode_info,
    encode_info,
    validate_object_name,
)
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import generate_id

_MAX_LINKS = 8
_ATTEMPTS = 10


async def find(api: Api, bucket: str, name: str) -> ObjectInfo | None:
    """Fetch an object, even a deleted one; None when there never was one. Raises MissingName for a missing
    bucket."""
    try:
        with buckets.naming(api, bucket):
            message = await browse.fetch_last(
                api, build_stream_name(bucket), build_info_subject(bucket, name)
            )
    except NotFound:
        return None
    return decode_info(bucket, message)


async def fetch_info(api: Api, bucket: str, name: str) -> ObjectInfo:
    """Fetch an object without following links. Raises MissingName when it or the bucket does not exist,
    JsctlError when its description is damaged."""
    object_info = await fetch_present(api, bucket, name)
    if object_info.damage:
        raise JsctlError(object_info.damage, "put it again, or remove it")
    return object_info


async def fetch_present(api: Api, bucket: str, name: str) -> ObjectInfo:
    """Fetch an object, even one whose description is damaged. Raises MissingName."""
    object_info = await find(api, bucket, validate_object_name(name))
    if object_info is None or object_info.is_deleted:
        raise build_missing_error(api, bucket, name)
    return object_info


async def resolve(api: Api, bucket: str, name: str) -> ObjectInfo:
    """Fetch the object that a name leads to, through links. Raises MissingName, JsctlError."""
    object_info = await fetch_info(api, bucket, name)
    for _ in range(_MAX_LINKS):
        link = object_info.link
        if link is None:
            return object_info
        if not link.name:
            raise JsctlError(
                f"{object_info.bucket} > {object_info.name} is a link to bucket {link.bucket}",
                f"{build_line('object ls', link.bucket)} lists what is in it",
            )
        try:
            object_info = await fetch_info(api, link.bucket, link.name)
        except ApiError as error:
            raise JsctlError(
                f"{object_info.bucket} > {object_info.name} is a link to {link}, which does not exist",
                error.hint,
            ) from None
    raise JsctlError(f"{bucket} > {name} is part of an endless chain of links")


def build_missing_error(api: Api, bucket: str, name: str) -> MissingName:
    """Return the error for an object that does not exist."""
    text = registry.find_noun("object").missing(name, bucket, domain=api.domain)
    return MissingName(ErrorCode.NO_MESSAGE_FOUND, text, name, partial(list_names, api, bucket))


async def list_names(api: Api, bucket: str) -> list[str]:
    """Return the names of all objects of a bucket."""
    return [object_info.name for object_info in await list_all(api, bucket)]


async def list_all(api: Api, bucket: str) -> list[ObjectInfo]:
    """Fetch all objects of a bucket, sorted by name, without those that were deleted; with those whose
    descriptions are damaged."""
    latest: dict[str, ObjectInfo] = {}
    async with aclosing(fetch_pages(api, bucket)) as infos:
        async for object_info in infos:
            latest[object_info.name] = object_info
    return [latest[name] for name in sorted(latest) if not latest[name].is_deleted]


async def fetch_pages(api: Api, bucket: str, config: Json | None = None) -> AsyncGenerator[ObjectInfo, None]:
    """Yield the objects of a bucket in the order in which they were put, including deleted ones. An object
    that is replaced meanwhile may appear twice. config: the bucket's stream's, if known."""
    config = config or (await buckets.fetch_info(api, bucket))["config"]
    bulk = bool(config.get("allow_direct"))
    reading = browse.read(api, build_stream_name(bucket), subject=build_info_filter(bucket), bulk=bulk)
    async with aclosing(reading) as messages:
        async for message in messages:
            yield decode_info(bucket, message)


async def put_info(api: Api, description: ObjectInfo, replaced: ObjectInfo | None) -> ObjectInfo:
    """Store the description of an object in place of another, and remove the other's chunks.

    replaced: the last known object of that name; if another was put meanwhile, that one is replaced. Returns
    the object as it is stored. Raises JsctlError.
    """
    subject = build_info_subject(description.bucket, description.name)
    data = encode_info(description)
    for _ in range(_ATTEMPTS):
        block = encode_headers(
            [
                ("Nats-Rollup", "sub"),
                ("Nats-Expected-Last-Subject-Sequence", str(replaced.sequence if replaced else 0)),
            ]
        )
        try:
            ack = parse_ack(subject, await _request(api, OutgoingMessage(subject, data, header_block=block)))
        except ApiError as error:
            if not is_conflict(error):
                raise
            replaced = await find(api, description.bucket, description.name)
            if replaced is not None and replaced.nuid == description.nuid:
                break  # stored, and its ack was lost
            continue
        if replaced is not None and replaced.nuid and replaced.nuid != description.nuid:
            await remove_chunks(api, description.bucket, replaced.nuid)
        message = await browse.fetch(
            api, build_stream_name(description.bucket), parse_ack_sequence(subject, ack)
        )
        return decode_info(description.bucket, message)
    return await fetch_info(api, description.bucket, description.name)


async def _request(api: Api, message: OutgoingMessage) -> Message:
    api.connection.check_size(message)
    return await api.connection.request_message(message, timeout=api.timeout)


async def remove(api: Api, object_info: ObjectInfo) -> None:
    """Delete an object; a message that marks it as deleted stays. Raises JsctlError."""
    await put_info(
        api,
        object_info._replace(
            nuid=object_info.nuid or generate_id(),
            size=0,
            chunks=0,
            digest="",
            is_deleted=True,
            link=None,
            raw={},
        ),
        object_info,
    )
    await remove_chunks(api, object_info.bucket, object_info.nuid)


async def remove_chunks(api: Api, bucket: str, nuid: str) -> None:
    """Remove the chunks of an object that is replaced, or of a put that failed."""
    if nuid:
        await streams.purge(api, build_stream_name(bucket), subject=build_chunk_subject(bucket, nuid))


async def link(api: Api, bucket: str, name: str, target: Link) -> ObjectInfo:
    """Store a link in a bucket; it replaces a link of that name.

    Raises JsctlError when an object has the name, MissingName when the target does not exist.
    """
    if target.name:
        await fetch_info(api, target.bucket, target.name)
    else:
        await buckets.fetch_info(api, target.bucket)
    existing = await find(api, bucket, validate_object_name(name))
    if existing is not None and not existing.is_deleted and existing.link is None:
        raise JsctlError(
            f"{bucket} > {name} is an object, not a link", "remove it first, or choose another name"
        )
    info = ObjectInfo(bucket, name, generate_id(), 0, 0, "", "", link=target)
    return await put_info(api, info, existing)


async def find_unfinished(api: Api, bucket: str) -> dict[str, int]:
    """Return the number of chunks that belong to no object, by nuid: those of puts that are running or were
    interrupted. Raises JsctlError when a damaged description does not say which chunks are its own."""
    chunks = await _count_chunks(api, bucket)
    nuids: set[str] = set()
    async with aclosing(fetch_pages(api, bucket)) as infos:
        async for object_info in infos:
            if object_info.damage and not object_info.nuid:
                raise JsctlError(
                    f"{object_info.damage}; its chunks cannot be distinguished from those of unfinished puts",
                    "put it again, or remove it",
                )
            nuids |= {object_info.nuid} if not object_info.is_deleted else set()
    return {nuid: count for nuid, count in chunks.items() if nuid not in nuids}


async def count(api: Api, bucket: str, config: Json) -> tuple[int, int]:
    """Return how many objects a bucket has, and how many unfinished puts. config: of the bucket."""
    chunks = await _count_chunks(
        api, bucket
    )  # first, so that objects put meanwhile do not count as unfinished
    latest: dict[str, ObjectInfo] = {}
    nuids: set[str] = set()
    async with aclosing(fetch_pages(api, bucket, config)) as infos:
        async for object_info in infos:
            latest[object_info.name] = object_info
            nuids |= {object_info.nuid} if not object_info.is_deleted else set()
    return sum(not entry.is_deleted for entry in latest.values()), len(chunks.keys() - nuids)


async def _count_chunks(api: Api, bucket: str) -> dict[str, int]:
    """Return the number of chunks by nuid."""
    prefix = build_chunk_subject(bucket, "")
    counts = await streams.count_subjects(api, build_stream_name(bucket), build_chunk_subject(bucket, ">"))
    return {subject.removeprefix(prefix): number for subject, number in counts.items()}
