"""Consumer requests. Everything in and out is the server's JSON."""

import asyncio
import secrets
import string
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jsctl import registry
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders
from jsctl.jetstream import api_levels, paging
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.consumer.config import CONSUMER
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.stream import requests as streams

T = TypeVar("T")

NOT_FOUND = 10014
EXISTS = 10148
RESETTABLE = ("all", "by_start_sequence", "by_start_time")
"""Delivery policies whose consumers may be reset to any sequence from their start on."""

_UPDATED_NOTHING = 10149


@dataclass(frozen=True, slots=True)
class ConsumerList:
    """The consumers of one stream.

    infos: CONSUMER.LIST entries. missing: consumers that the server knows and could not ask.
    offline: consumer -> why it is off.
    """

    stream: str
    infos: Sequence[Json] = ()
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = field(default_factory=dict)


async def names(api: Api, stream: str) -> list[str]:
    """Names of all consumers of a stream."""
    return [name async for page in name_pages(api, stream) for name in page]


async def name_pages(api: Api, stream: str) -> AsyncIterator[list[str]]:
    """As `names`, sorted, a page at a time."""
    with _about(stream):
        async for page in api.batches(f"CONSUMER.NAMES.{stream}", "consumers"):
            yield page


async def info_pages(api: Api, stream: str) -> AsyncIterator[list[Json]]:
    """All consumers of a stream by name, a page at a time: for what needs no more than one of them."""
    with _about(stream):
        async for page in api.batches(
            f"CONSUMER.LIST.{stream}", "consumers", name=lambda info: str(info["name"])
        ):
            yield page


async def listing(api: Api, stream: str) -> ConsumerList:
    """All consumers of a stream with their state, asked in parallel pages."""
    collected = await collect(api, stream, lambda info: info)
    return ConsumerList(stream, list(collected.items.values()), collected.missing, collected.offline)


async def collect(api: Api, stream: str, extract: Callable[[Json], T | None]) -> Collected[T]:
    """Returns what `extract` takes from each consumer's CONSUMER.LIST entry (see `paging.collect`)."""
    with _about(stream):
        return await paging.collect(api, f"CONSUMER.LIST.{stream}", "consumers", extract)


async def listings(api: Api, wanted: Iterable[str]) -> list[ConsumerList]:
    """The consumers of several streams, asked at once; a stream removed meanwhile is left out."""
    gate = asyncio.Semaphore(16)

    async def of(stream: str) -> ConsumerList | None:
        async with gate:
            try:
                return await listing(api, stream)
            except ApiError as error:
                if error.err_code == streams.NOT_FOUND:
                    return None
                raise

    return [one for one in await asyncio.gather(*map(of, wanted)) if one]


async def info(api: Api, stream: str, name: str, *, timeout: int | None = None) -> Json:
    """Configuration and state. Raises ApiError 10014 or 10059 when there is none. timeout: ns."""
    return await _of(stream, name, api.call(f"CONSUMER.INFO.{stream}.{name}", timeout=timeout))


async def create(api: Api, stream: str, config: Json) -> tuple[Json, bool]:
    """Create a consumer; gives its info, and False when it was there already with this configuration.

    Goes by CONSUMER.CREATE.<stream>.<name>[.<filter>], and by the older subjects when nobody answers
    there or the account may not use it. Raises BadInput when the server is too old for it, ApiError
    10148 when there is another of that name.
    """
    await api_levels.require(api, CONSUMER.needed_levels(config))
    if not config.get("name") and not config.get("durable_name"):
        config = {**config, "name": new_name()}
    name = str(config.get("name") or config["durable_name"])
    before = await _before(api, stream, name)
    try:
        made = await _put(api, stream, config, "create")
    except ApiError as error:
        if error.err_code == EXISTS:
            raise ApiError(
                error.code,
                error.err_code,
                f"consumer {stream} > {name} exists with another configuration",
                "jsctl consumer edit changes it",
            ) from None
        raise
    return made, before is None or before.get("created") != made.get("created")


async def update(api: Api, stream: str, config: Json) -> Json:
    """Change a consumer to this whole configuration; gives its info."""
    await api_levels.require(api, CONSUMER.needed_levels(config))
    return await _put(api, stream, config, "update")


async def delete(api: Api, stream: str, name: str) -> None:
    """Remove a consumer."""
    await _of(stream, name, api.call(f"CONSUMER.DELETE.{stream}.{name}"))


async def reset(api: Api, stream: str, name: str, sequence: int | None) -> Json:
    """Forget what was delivered, from `sequence` on or back to where it began; gives its info.

    Needs nats-server 2.14.
    """
    await api_levels.require(api, {ApiLevel.V2_14: ["consumer reset"]})
    body: Json = {"seq": sequence} if sequence else {}
    return await _of(stream, name, api.call(f"CONSUMER.RESET.{stream}.{name}", body))


async def pause(api: Api, stream: str, name: str, until: str) -> Json:
    """Stop delivery until a time (RFC 3339); gives `{paused, pause_until, pause_remaining}`."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer pause"]})
    return await _of(stream, name, api.call(f"CONSUMER.PAUSE.{stream}.{name}", {"pause_until": until}))


async def resume(api: Api, stream: str, name: str) -> Json:
    """End a pause."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer resume"]})
    return await _of(stream, name, api.call(f"CONSUMER.PAUSE.{stream}.{name}", {}))


async def unpin(api: Api, stream: str, name: str, group: str) -> None:
    """Take the pin of a priority group away from its client (ADR-42)."""
    await api_levels.require(api, {ApiLevel.V2_11: ["consumer unpin"]})
    await _of(stream, name, api.call(f"CONSUMER.UNPIN.{stream}.{name}", {"group": group}))


async def step_down(api: Api, stream: str, name: str, preferred: str = "") -> None:
    """Make the leader stand down; `preferred` names the server that should follow it."""
    body: Json | None = None
    if preferred:
        await api_levels.require(api, {ApiLevel.V2_11: ["--preferred"]})
        body = {"placement": {"preferred": preferred}}
    await _of(stream, name, api.call(f"CONSUMER.LEADER.STEPDOWN.{stream}.{name}", body))


def new_name() -> str:
    """A name for a consumer that needs none."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(8))


def is_pull(config: Json) -> bool:
    return not config.get("deliver_subject")


async def _before(api: Api, stream: str, name: str) -> Json | None:
    """The consumer's info, None when there is none or we may not ask."""
    try:
        return await info(api, stream, name, timeout=min(api.timeout, 1_000_000_000))
    except JsctlError:
        return None


async def _put(api: Api, stream: str, config: Json, action: str) -> Json:
    name = str(config.get("name") or config["durable_name"])
    # Older servers know `durable_name` alone; present ones want both to be the same.
    config = {**config, "name": name}
    subject = f"CONSUMER.CREATE.{stream}.{name}"
    if only := config.get("filter_subject"):
        subject += f".{only}"
    body: dict[str, Any] = {"stream_name": stream, "config": config, "action": action}
    try:
        return await _of(stream, name, api.call(subject, body))
    except (NoResponders, Denied) as error:
        durable = config.get("durable_name")
        older = f"CONSUMER.DURABLE.CREATE.{stream}.{durable}" if durable else f"CONSUMER.CREATE.{stream}"
        try:
            return await _of(stream, name, api.call(older, body))
        except (NoResponders, Denied):
            raise error from None


async def _of(stream: str, name: str, call: Awaitable[T]) -> T:
    with _about(stream, name):
        return await call


@contextmanager
def _about(stream: str, name: str = "") -> Iterator[None]:
    """Makes the error for a missing stream or consumer name it."""
    try:
        yield
    except ApiError as error:
        if error.err_code == streams.NOT_FOUND:
            raise ApiError(404, error.err_code, *registry.noun("stream").missing(stream)) from None
        if error.err_code in (NOT_FOUND, _UPDATED_NOTHING):
            missing = registry.noun("consumer").missing(name, stream)
            raise ApiError(404, error.err_code, *missing) from None
        raise
