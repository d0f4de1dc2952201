"""Consumer requests. Arguments and results are the server's own JSON."""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from jsctl import registry
from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Denied, JsctlError, MissingName, NoResponders
from jsctl.jetstream import api_levels, paging
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.paging import Collected
from jsctl.nats.error_codes import ErrorCode

T = TypeVar("T")

_READER = "jsctl_"

RESETTABLE = ("all", "by_start_sequence", "by_start_time")
"""Delivery policies whose consumers may be reset to any sequence after their start."""

_RANDOM = 8  #: characters of random names

_CONCURRENT_LISTS = 16
"""Streams whose consumers are listed at the same time."""


class ConsumerList(NamedTuple):
    """The consumers of one stream.

    infos: CONSUMER.LIST entries. missing: consumers that the server knows but could not reach.
    offline: consumer -> why no server can run it. refused: why the stream's consumers could not be listed.
    """

    stream: str
    infos: Sequence[Json] = ()
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = MappingProxyType({})
    refused: str = ""


async def list_names(api: Api, stream: str) -> list[str]:
    """Return the names of all consumers of a stream."""
    return [name async for page in list_name_pages(api, stream) for name in page]


async def list_name_pages(api: Api, stream: str) -> AsyncIterator[list[str]]:
    """Yield the names of all consumers of a stream, sorted, a page at a time."""
    with _naming(api, stream):
        async for page in paging.fetch_sorted_pages(api, f"CONSUMER.NAMES.{stream}", "consumers"):
            yield page


async def list_info_pages(api: Api, stream: str) -> AsyncIterator[list[Json]]:
    """Yield the infos of a stream's consumers by name, a page at a time, so that no more than a page is in
    memory."""
    with _naming(api, stream):
        async for page in paging.fetch_sorted_pages(
            api, f"CONSUMER.LIST.{stream}", "consumers", name=lambda info: str(info["name"])
        ):
            yield page


async def list_consumers(api: Api, stream: str) -> ConsumerList:
    """Return all consumers of a stream with their state; several pages are fetched at once."""
    collected = await collect(api, stream, lambda info: info)
    return ConsumerList(stream, list(collected.items.values()), collected.missing, collected.offline)


async def collect(api: Api, stream: str, extract: Callable[[Json], T | None]) -> Collected[T]:
    """Return what `extract` takes from each consumer's CONSUMER.LIST entry (see `paging.collect`)."""
    with _naming(api, stream):
        return await paging.collect(api, f"CONSUMER.LIST.{stream}", "consumers", extract)


async def list_consumers_of_streams(
    api: Api, stream_names: Iterable[str], *, keep_refused: bool = False
) -> list[ConsumerList]:
    """Fetch the consumers of several streams at once; a stream that was removed meanwhile is left out.

    keep_refused: when some streams' consumers may not be listed, return the reason in their place. Otherwise,
    and when none may be listed, Denied is raised.
    """
    await enter_event_loop()
    import asyncio

    slots = asyncio.Semaphore(_CONCURRENT_LISTS)

    async def fetch(stream: str) -> ConsumerList | None:
        async with slots:
            try:
                return await list_consumers(api, stream)
            except ApiError as error:
                if error.err_code == ErrorCode.STREAM_NOT_FOUND:
                    return None
                raise
            except Denied as error:
                refusals.append(error)
                return ConsumerList(stream, refused=error.message)

    refusals: list[Denied] = []
    lists = [listed for listed in await asyncio.gather(*map(fetch, stream_names)) if listed]
    if refusals and not (keep_refused and any(not listed.refused for listed in lists)):
        raise refusals[0]
    return lists


async def fetch_info(api: Api, stream: str, name: str, *, timeout: int | None = None) -> Json:
    """Fetch a consumer's configuration and state.

    timeout: ns. Raises ApiError when there is no such consumer or stream.
    """
    return await _call(api, "INFO", stream, name, timeout=timeout)


async def create(api: Api, stream: str, config: Json, *, is_name_new: bool = False) -> tuple[Json, bool]:
    """Create a consumer; return its info, and False when it existed already with this configuration.

    is_name_new: whether its name was just generated, so that no other consumer has it. A consumer without a
    name gets a generated one.

    Uses CONSUMER.CREATE.<stream>.<name>[.<filter>], and the older subjects when nobody answers there or the
    account may not use it. Raises BadInput when the server is too old for it, ApiError when another consumer
    has that name.
    """
    await api_levels.require(api, _find_needed_levels(config))
    if not config.get("name") and not config.get("durable_name"):
        config, is_name_new = {**config, "name": generate_name()}, True
    name = str(config.get("name") or config["durable_name"])
    existing: Json | None = None
    if not is_name_new:
        with suppress(JsctlError):  # it does not exist, or the login may not ask for it
            existing = await fetch_info(api, stream, name, timeout=min(api.timeout, SECOND))
    try:
        created = await _send_config(api, stream, config, "create")
    except ApiError as error:
        if error.err_code == ErrorCode.CONSUMER_ALREADY_EXISTS:
            raise ApiError(
                error.code,
                error.err_code,
                f"consumer {stream} > {name} exists with another configuration",
                f"{build_line('consumer edit')} changes it; with --update, consumer add replaces it",
            ) from None
        raise
    return created, existing is None or existing.get("created") != created.get("created")


async def update(api: Api, stream: str, config: Json) -> Json:
    """Replace a consumer's configuration; return its info. Raises BadInput, ApiError."""
    await api_levels.require(api, _find_needed_levels(config))
    return await _send_config(api, stream, config, "update")


async def put(api: Api, stream: str, config: Json) -> Json:
    """Create a consumer, or replace the configuration of the one with its name; return its info. Raises
    BadInput, ApiError."""
    await api_levels.require(api, _find_needed_levels(config))
    return await _send_config(api, stream, config, "")


async def delete(api: Api, stream: str, name: str) -> None:
    """Remove a consumer."""
    await _call(api, "DELETE", stream, name)


async def reset(api: Api, stream: str, name: str, sequence: int | None) -> Json:
    """Deliver messages again, from a stream sequence or, without one, from the ack floor; return the
    consumer's info. Needs nats-server 2.14."""
    await api_levels.require(api, {ApiLevel.V2_14: ["consumer reset"]})
    return await _call(api, "RESET", stream, name, {"seq": sequence} if sequence else {})


async def pause(api: Api, stream: str, name: str, until: str) -> Json:
    """Stop delivery until a time (RFC 3339); return `{paused, pause_until, pause_remaining}`."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer pause"]})
    return await _call(api, "PAUSE", stream, name, {"pause_until": until})


async def resume(api: Api, stream: str, name: str) -> Json:
    """End a pause."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer resume"]})
    return await _call(api, "PAUSE", stream, name, {})


async def unpin(api: Api, stream: str, name: str, group: str) -> None:
    """Remove the pin of a priority group from its client (ADR-42)."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer unpin"]})
    await _call(api, "UNPIN", stream, name, {"group": group})


def generate_name() -> str:
    """Return a random name for a consumer whose name nobody needs to know."""
    from string import ascii_letters, digits  # most commands do not need it

    letters = ascii_letters + digits
    return "".join(letters[byte % len(letters)] for byte in os.urandom(_RANDOM))


def generate_reader_name() -> str:
    """Return a random name for a consumer through which jsctl reads."""
    return f"{_READER}{generate_name()}"


def is_reader(name: str) -> bool:
    """Return whether a name may be one of `generate_reader_name`."""
    return name.startswith(_READER) and len(name) == len(_READER) + _RANDOM and name.isascii()


def is_pull(config: Json) -> bool:
    """Return whether clients pull from a consumer, instead of the server pushing to a subject."""
    return not config.get("deliver_subject")


async def _send_config(api: Api, stream: str, config: Json, action: str) -> Json:
    """Create or update a consumer. action: "create" or "update"; empty for the one that it takes."""
    name = str(config.get("name") or config["durable_name"])
    # Older servers know only `durable_name`; newer ones require both to be equal.
    config = {**config, "name": name}
    subject = f"CONSUMER.CREATE.{stream}.{name}"
    if filter_subject := config.get("filter_subject"):
        subject += f".{filter_subject}"
    body: dict[str, Any] = {"stream_name": stream, "config": config, "action": action}
    with _naming(api, stream, name):
        try:
            return await api.call(subject, body)
        except (NoResponders, Denied) as error:
            durable = config.get("durable_name")
            older = f"CONSUMER.DURABLE.CREATE.{stream}.{durable}" if durable else f"CONSUMER.CREATE.{stream}"
            try:
                return await api.call(older, body)
            except (NoResponders, Denied):
                raise error from None


async def _call(
    api: Api, verb: str, stream: str, name: str, body: Json | None = None, *, timeout: int | None = None
) -> Json:
    """Send a request about a consumer; errors name it."""
    with _naming(api, stream, name):
        return await api.call(f"CONSUMER.{verb}.{stream}.{name}", body, timeout=timeout)


@contextmanager
def _naming(api: Api, stream: str, name: str = "") -> Iterator[None]:
    """Add the name to the error for a missing stream or consumer."""
    try:
        yield
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_NOT_FOUND:
            text = registry.find_noun("stream").missing(stream, domain=api.domain)
            raise MissingName(error.err_code, text, stream, partial(_list_stream_names, api)) from None
        if error.err_code in (ErrorCode.CONSUMER_NOT_FOUND, ErrorCode.CONSUMER_DOES_NOT_EXIST):
            text = registry.find_noun("consumer").missing(name, stream, domain=api.domain)
            raise MissingName(error.err_code, text, name, partial(list_names, api, stream)) from None
        raise


async def _list_stream_names(api: Api) -> list[str]:
    return [name async for page in paging.fetch_sorted_pages(api, "STREAM.NAMES", "streams") for name in page]


def _find_needed_levels(config: Json) -> dict[int, list[str]]:
    from jsctl.jetstream.consumer.config import CONSUMER  # most commands do not need it

    return CONSUMER.find_needed_levels(config)
