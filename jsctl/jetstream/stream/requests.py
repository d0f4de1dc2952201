"""Stream requests. Everything in and out is the server's JSON."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

from jsctl import registry
from jsctl.errors import ApiError, Denied
from jsctl.jetstream import api_levels, paging
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.stream.config import STREAM

T = TypeVar("T")

NOT_FOUND = 10059
NAME_IN_USE = 10058


async def names(api: Api, subject: str = "") -> list[str]:
    """Names of all streams, or of those that listen on `subject`."""
    return [name async for page in name_pages(api, subject) for name in page]


def name_pages(api: Api, subject: str = "") -> AsyncGenerator[list[str], None]:
    """As `names`, sorted, a page at a time."""
    return api.batches("STREAM.NAMES", "streams", {"subject": subject} if subject else {})


def info_pages(api: Api) -> AsyncGenerator[list[Json], None]:
    """All streams by name, a page at a time: for what needs no more than one of them."""
    return api.batches("STREAM.LIST", "streams", name=lambda info: str(info["config"]["name"]))


async def collect(api: Api, extract: Callable[[Json], T | None], *, subject: str = "") -> Collected[T]:
    """Returns what `extract` takes from each stream's STREAM.LIST entry (see `paging.collect`), of those that
    store messages on `subject`."""
    return await paging.collect(
        api, "STREAM.LIST", "streams", extract, {"subject": subject} if subject else None
    )


async def info(api: Api, name: str) -> Json:
    """Configuration and state. Raises ApiError 10059 when there is none."""
    return await _of(name, api.call(f"STREAM.INFO.{name}"))


async def infos(api: Api, wanted: list[str]) -> list[Json]:
    """Infos of several streams, asked at once."""
    return list(await asyncio.gather(*(info(api, name) for name in wanted)))


async def exists(api: Api, name: str) -> Json | None:
    """The stream's info, None when there is none of that name."""
    try:
        return await info(api, name)
    except ApiError as error:
        if error.err_code != NOT_FOUND:
            raise
        return None


async def create(api: Api, config: Json) -> tuple[Json, bool]:
    """Create a stream; gives its info, and False when it was there already with this configuration.

    Raises BadInput when the server is too old for it, ApiError 10058 when there is another of that name.
    """
    await check_level(api, config)
    name = str(config["name"])
    try:
        before = await exists(api, name)
    except Denied:
        before = None  # an account may be allowed to create and not to look
    made = await _of(name, api.call(f"STREAM.CREATE.{name}", config))
    made.pop("did_create", None)
    # The server answers the same for a new stream and for an identical old one (ADR-1: idempotent).
    return made, before is None or before.get("created") != made.get("created")


async def update(api: Api, config: Json) -> Json:
    """Change a stream to this whole configuration; gives its info."""
    await check_level(api, config)
    name = str(config["name"])
    return await _of(name, api.call(f"STREAM.UPDATE.{name}", config))


async def delete(api: Api, name: str) -> None:
    """Remove a stream with its messages and consumers."""
    await _of(name, api.call(f"STREAM.DELETE.{name}"))


async def check_level(api: Api, config: Json) -> None:
    """Raises BadInput when the configuration needs a newer server. Asks only when it needs any level."""
    await api_levels.require(api, STREAM.needed_levels(config))


def needs_max_bytes(account_info: Json) -> bool:
    """Whether the account wants every stream to have a size limit."""
    limits = account_info.get("limits") or {}
    return bool(limits.get("max_bytes_required"))


def is_internal(name: str) -> bool:
    """Whether a stream belongs to a key-value or object store, MQTT or the system."""
    return name.startswith(("KV_", "OBJ_", "MQTT_", "$"))


async def _of(name: str, call: Any) -> Json:
    """The reply; the errors for a stream that is missing, or another, name it."""
    try:
        reply: Json = await call
    except ApiError as error:
        told = {
            NOT_FOUND: registry.noun("stream").missing(name)[0],
            NAME_IN_USE: f"stream {name} exists with another configuration",
        }
        if error.err_code not in told:
            raise
        raise ApiError(error.code, error.err_code, told[error.err_code], error.hint) from None
    return reply
