"""Buckets of objects: the streams that hold them (ADR-20)."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.errors import ApiError, BadInput, JsctlError, MissingName
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.object.model import (
    STREAM_PREFIX,
    build_chunk_subject,
    build_info_filter,
    build_stream_name,
)
from jsctl.jetstream.stream import requests as streams
from jsctl.nats import subjects
from jsctl.nats.error_codes import ErrorCode


def validate_bucket(name: str) -> str:
    """Return a name if a new bucket may have it. Raises BadInput."""
    try:
        return subjects.validate_bucket(name, STREAM_PREFIX)
    except ValueError as error:
        raise BadInput(str(error)) from None


async def list_names(api: Api) -> list[str]:
    """Return the names of all buckets."""
    return [name async for page in list_name_pages(api) for name in page]


async def list_name_pages(api: Api) -> AsyncGenerator[list[str], None]:
    """Yield the names of all buckets, sorted, a page at a time."""
    async for page in streams.list_name_pages(api):
        yield [name.removeprefix(STREAM_PREFIX) for name in page if name.startswith(STREAM_PREFIX)]


def get_bucket(info: Json) -> str:
    """Return the bucket of a stream's info; empty when the stream holds no bucket."""
    name = str(info["config"]["name"])
    return name.removeprefix(STREAM_PREFIX) if name.startswith(STREAM_PREFIX) else ""


async def fetch_info(api: Api, bucket: str) -> Json:
    """Fetch the info of a bucket's stream. Raises MissingName."""
    with naming(api, bucket):
        return await streams.fetch_info(api, build_stream_name(bucket))


@contextmanager
def naming(api: Api, bucket: str) -> Iterator[None]:
    """Raise MissingName with the name of the bucket in place of the error for its missing stream."""
    try:
        yield
    except ApiError as error:
        if error.err_code != ErrorCode.STREAM_NOT_FOUND:
            raise
        text = registry.find_noun("object bucket").missing(bucket, domain=api.domain)
        raise MissingName(error.err_code, text, bucket, partial(list_names, api)) from None


def build_defaults(bucket: str) -> Json:
    """Return the configuration that makes a stream a bucket."""
    return {
        "name": build_stream_name(bucket),
        "subjects": [build_chunk_subject(bucket, ">"), build_info_filter(bucket)],
        "retention": "limits",
        "storage": "file",
        "discard": "new",
        "max_consumers": -1,
        "max_msgs": -1,
        "max_bytes": -1,
        "max_age": 0,
        "max_msg_size": -1,
        "max_msgs_per_subject": -1,
        "num_replicas": 1,
        "allow_rollup_hdrs": True,
        "allow_direct": True,
    }


async def create(api: Api, bucket: str, settings: Mapping[str, object]) -> tuple[Json, bool]:
    """Create a bucket; return its stream's info, and False when it existed already with this configuration.

    settings: the keys of its stream that differ from the defaults. Raises BadInput, ApiError.
    """
    try:
        return await streams.create(api, {**build_defaults(validate_bucket(bucket)), **settings})
    except ApiError as error:
        if error.err_code != ErrorCode.STREAM_NAME_EXIST:
            raise
        raise JsctlError(
            f"bucket {bucket} exists with another configuration",
            f"{build_line('object edit', bucket)} changes it",
        ) from None


async def remove(api: Api, bucket: str) -> None:
    """Remove a bucket with all that is in it. Raises MissingName."""
    with naming(api, bucket):
        await streams.delete(api, build_stream_name(bucket))


async def count_chunks(api: Api, bucket: str, subject: str) -> int:
    """Return how many messages a subject of a bucket holds. Raises MissingName."""
    with naming(api, bucket):
        return (await streams.count_subjects(api, build_stream_name(bucket), subject)).get(subject, 0)
