"""Stream requests. Everything in and out is the server's JSON."""

import asyncio
from typing import Any

from jsctl.jetstream.api import Api, Json


async def listing(api: Api, subject: str = "") -> tuple[list[Json], list[str]]:
    """Infos of all streams (those that listen on `subject`), and the names of those that are offline."""
    body: dict[str, Any] = {"subject": subject} if subject else {}
    return await api.pages("STREAM.LIST", "streams", body), []


async def names(api: Api, subject: str = "") -> list[str]:
    """Names of all streams, or of those that listen on `subject`."""
    body: dict[str, Any] = {"subject": subject} if subject else {}
    return await api.pages("STREAM.NAMES", "streams", body)


async def info(api: Api, name: str) -> Json:
    """Configuration and state. Raises ApiError 10059 when there is none."""
    return await api.call(f"STREAM.INFO.{name}")


async def infos(api: Api, wanted: list[str]) -> list[Json]:
    """Infos of several streams, asked at once."""
    return list(await asyncio.gather(*(info(api, name) for name in wanted)))


def is_internal(name: str) -> bool:
    """Whether a stream belongs to a key-value or object store, MQTT or the system."""
    return name.startswith(("KV_", "OBJ_", "MQTT_", "$"))
