"""Replicas of a stream that are gone: made again, if there are servers for them."""

import secrets

from jsctl.errors import ApiError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode


def count_replicas(info: Json) -> tuple[int, int]:
    """Return how many replicas a stream is to have, and how many there are; the same without a cluster."""
    wanted, group = int(info["config"].get("num_replicas") or 1), info.get("cluster") or {}
    return wanted, 1 + len(group.get("replicas") or ()) if group.get("leader") else wanted


async def make_again(api: Api, info: Json) -> Json:
    """Make the missing replicas of a stream; return its info.

    A server makes some only when the number changes, and so it is lowered for a moment; only if there are
    servers for all, which another stream shows first, as the lower number would remain. Raises ApiError.
    """
    config = info["config"]
    wanted, existing = count_replicas(info)
    trial = f"jsctl-trial-{secrets.token_hex(8)}"
    like = {key: config[key] for key in ("num_replicas", "placement") if config.get(key)}
    try:
        await api.call(f"STREAM.CREATE.{trial}", {"name": trial, "storage": "memory", "max_bytes": 1, **like})
    except ApiError as error:
        if error.err_code != ErrorCode.CLUSTER_NO_PEERS:
            raise
        hint = f"bring a server back that can hold a replica of {config['name']}; nothing was changed"
        raise ApiError(error.code, error.err_code, error.description, hint) from None
    await streams.delete(api, trial)
    await streams.update(api, {**config, "num_replicas": existing})
    return await streams.update(api, {**config, "num_replicas": wanted})
