"""The mark of a stream whose restore or copy has not ended.

Servers since 2.15 create the stream first and fill it afterwards; when the transfer is interrupted, a stream
with some of its messages stays. So a stream carries a mark in its metadata until it has everything.
"""

import asyncio
import time
from typing import Literal

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_rfc3339
from jsctl.errors import ApiError, JsctlError, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.state import MARK
from jsctl.jetstream.stream import requests as streams

_ATTEMPTS = 5
_RETRY_DELAY = 0.5  #: seconds

Step = Literal["restore", "compare"]


def add_mark(config: Json, step: Step = "restore") -> Json:
    """Return the configuration with a mark. A sealed stream gets none, as it could not be removed again."""
    if config.get("sealed"):
        return config
    now = format_rfc3339(time.time_ns())
    return {**config, "metadata": {**(config.get("metadata") or {}), MARK: f"{step} {now}"}}


def remove_mark(config: Json) -> Json:
    """Return the configuration without a mark."""
    return without_metadata(config, lambda key: key == MARK)


async def update_marked(api: Api, config: Json, *, hint: str = "") -> Json:
    """Update a new stream to change its mark; return its info.

    Tries several times: in a cluster the leader of a new stream may not be known at once. hint: what to do
    when the mark stays. Raises JsctlError.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return await streams.update(api, config)
        except (ApiError, Unreachable) as error:
            final = isinstance(error, ApiError) and error.code not in (404, 503)
            if final or attempt == _ATTEMPTS:
                raise JsctlError(
                    f"stream {config['name']} is complete, but keeps {MARK} in its metadata: {error}",
                    hint or f"{build_line('stream edit', config['name'])} removes it",
                ) from None
            await asyncio.sleep(_RETRY_DELAY)
