"""Publishing messages again that no stream accepts at the moment, because their stream has no leader."""

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import parse_time_ns
from jsctl.errors import ApiError, JsctlError, NoJetStream, NoResponders, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import find_header


class RetryPolicy(NamedTuple):
    """The means to publish again. say: writes a line for people."""

    api: Api
    say: Callable[[str], None]

    async def check(self, subject: str, error: JsctlError) -> None:
        """Raise the error when no stream stores the subject, so that waiting is pointless."""
        if isinstance(error, NoResponders) and await self._is_taken(subject) is False:
            raise error

    async def _is_taken(self, subject: str) -> bool | None:
        """Return whether a stream stores a subject; None when JetStream does not answer."""
        try:
            answer = await self.api.call("STREAM.NAMES", {"subject": subject})
        except (NoResponders, NoJetStream):
            return False
        except JsctlError:
            return None
        return bool(answer.get("streams"))

    async def find_batch(self, batch: str, subject: str, age: int) -> Json | None:
        """Return the ack of an atomic batch, an empty object when it is not stored and never will be, or None
        when that is unknown. batch: its id. subject: its last one. age: ns since it was sent."""
        from jsctl.jetstream.message import browse
        from jsctl.jetstream.stream import requests as streams

        api = self.api
        with contextlib.suppress(JsctlError):
            for stream in await streams.list_names(api, subject):
                # Fetched first: a batch that is missing afterwards was lost before.
                info = await streams.fetch_info(api, stream)
                with contextlib.suppress(NotFound):
                    last = await browse.fetch_last(api, stream, subject)
                    if find_header(last.header_block, "Nats-Batch-Id") == batch:
                        return {"stream": stream, "seq": last.sequence, "batch": batch}
                    if parse_time_ns(info["ts"]) - parse_time_ns(last.timestamp) < age:
                        return None  # another client's, which may have come after it
                return {} if _is_settled(info, age) else None
        return None


def _is_settled(info: Json, age: int) -> bool:
    """Return whether messages that the former leader had not stored `age` ns ago are lost.

    They are if there has been a new leader since then, and most replicas are as current as it is.
    """
    cluster = info.get("cluster") or {}
    since, replicas = cluster.get("leader_since"), cluster.get("replicas") or []
    if not since or parse_time_ns(since) <= parse_time_ns(info["ts"]) - age:
        return False
    current = sum(1 for replica in replicas if replica.get("current") and not replica.get("lag"))
    return 2 * (current + 1) > len(replicas) + 1


def is_temporary(error: JsctlError) -> bool:
    """Return whether a message was not stored because its stream has no leader, so that sending it again may
    work."""
    if isinstance(error, NoResponders):
        return True
    codes = (ErrorCode.CLUSTER_NOT_AVAIL, ErrorCode.CLUSTER_NOT_LEADER, ErrorCode.CLUSTER_NOT_ACTIVE)
    return isinstance(error, ApiError) and error.err_code in codes


def leaderless_error(subject: str, timeout: float, error: JsctlError) -> JsctlError:
    """Return the error to raise when no stream accepted messages before the timeout. timeout: seconds."""
    if not isinstance(error, NoResponders):
        return error
    return NoResponders(
        f"no stream accepted {subject} for {timeout:g}s",
        f"its stream may have no leader: see {build_line('stream info')}; --timeout tries longer",
    )
