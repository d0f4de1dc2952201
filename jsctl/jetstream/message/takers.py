"""Work queues that lose messages to a mirror or source: what it has copied, nobody else in the queue gets.

Tried on nats-server 2.15: a mirror or source is a consumer of its origin, and acknowledges what it has copied
(stream.go: setupMirrorConsumer, jetstream_api.go). The same is true of interest retention.
"""

from typing import NamedTuple

from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Denied, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import format_origin, list_origins
from jsctl.jetstream.message.change_estimate import Changes, estimate_losses
from jsctl.jetstream.message.data_loss import NOTHING, DataLoss
from jsctl.jetstream.stream import requests as streams


class Taken(NamedTuple):
    """What a mirror or source takes out of its origin. info: the origin's; None if nobody says what it is."""

    origin: str
    info: Json | None
    loss: DataLoss


async def list_taken(api: Api, config: Json, before: Json | None = None) -> list[Taken]:
    """Return what a stream with this configuration takes out of origins that it has not copied before.

    Origins that do not exist, and those that keep what is copied, are left out. Raises Unreachable.
    """
    known = list_origins(before or {})
    taken: list[Taken] = []
    for origin in list_origins(config):
        if origin not in known and (found := await _find_taken(api, origin)):
            taken.append(found)
    return taken


async def _find_taken(api: Api, origin: Json) -> Taken | None:
    label = format_origin({key: origin[key] for key in ("name", "external") if key in origin})
    there = api
    if prefix := (origin.get("external") or {}).get("api"):
        there = Api(api.connection, prefix=str(prefix), timeout=min(api.timeout, SECOND))
    try:
        info = await streams.fetch_info_or_none(there, str(origin["name"]))
    except (ApiError, Denied, NoResponders, RequestTimeout):
        return Taken(label, None, NOTHING)
    if info is None or info["config"].get("retention", "limits") == "limits":
        return None
    loss = (await estimate_losses(there, info, Changes(takers=[origin]))).total
    return Taken(label, info, loss)
