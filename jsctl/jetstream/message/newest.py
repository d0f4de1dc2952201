"""The newest messages of subjects: one from the stream's leader, many in batches from replicas (ADR-31)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from jsctl.base.loops import enter_event_loop, gather
from jsctl.errors import Denied, JsctlError, NotFound, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.nats.direct_get import parse_direct_reply
from jsctl.nats.message import Message

_MAX_SUBJECTS = 1000
"""Subjects requested at once; the server answers 1,024 at most."""
_MAX_BYTES = 4 << 20  #: of data requested at once, estimated from the stream's average
_MAX_REQUEST_SIZE = 256 << 10  #: bytes of subjects in a request
_MAX_PARALLEL = 3  #: requests at once
_MAX_SINGLE = 64  #: requests at once to the leader, for single subjects


async def fetch_newest(api: Api, stream: str, subject: str, *, direct: bool) -> Message | None:
    """Fetch the newest message of a subject, or None.

    The leader answers, so that a message that was just stored is seen. direct: whether to ask replicas when
    the login may not ask the leader. Raises what requests raise.
    """
    try:
        return await browse.fetch_last(api, stream, subject)
    except NotFound:
        return None
    except Denied:
        if not direct:
            raise
    reply = await api.connection.request(f"{api.prefix}.DIRECT.GET.{stream}.{subject}", timeout=api.timeout)
    parsed = parse_direct_reply(reply.header_block)
    return parsed.to_message(reply.data) if parsed else None


async def fetch_newest_messages(
    api: Api, info: Json, subjects: Sequence[str]
) -> AsyncGenerator[list[Message], None]:
    """Yield the newest messages of many subjects in their order, in pages; subjects without one are left out.

    They come from any replica in batches of many subjects. Messages that a replica does not have yet come
    from the leader, and so do all if batches are not possible. info: the stream's. Raises what requests
    raise.
    """
    state = info["state"]
    average = int(state.get("bytes") or 0) // max(int(state.get("messages") or 0), 1)
    size = max(1, min(_MAX_SUBJECTS, _MAX_BYTES // max(average, 1)))
    reader = _Reader(api, info["config"])
    await enter_event_loop()
    import asyncio

    ahead: list[asyncio.Task[list[Message]]] = []
    try:
        for page in _split_pages(subjects, size):
            ahead.append(asyncio.ensure_future(reader.read(page)))
            if len(ahead) >= _MAX_PARALLEL:
                yield await ahead.pop(0)
        while ahead:
            yield await ahead.pop(0)
    finally:
        for task in ahead:
            task.cancel()


def _split_pages(subjects: Sequence[str], limit: int) -> list[list[str]]:
    """Split subjects into groups for one request each."""
    pages: list[list[str]] = []
    size = 0
    for subject in subjects:
        size += len(subject)
        if not pages or len(pages[-1]) >= limit or size > _MAX_REQUEST_SIZE:
            pages.append([])
            size = len(subject)
        pages[-1].append(subject)
    return pages


class _Reader:
    """A reader of pages of subjects: in batches, and from the leader once these turn out to be impossible."""

    def __init__(self, api: Api, config: Json) -> None:
        self._api = api
        self._stream = str(config["name"])
        self._direct = self._batches = bool(config.get("allow_direct"))

    async def read(self, subjects: list[str]) -> list[Message]:
        api, stream, by_subject = self._api, self._stream, dict[str, Message]()
        if self._batches:
            try:
                async with aclosing(browse.read_last(api, stream, subjects, len(subjects))) as pages:
                    async for page in pages:
                        by_subject |= {message.subject: message for message in page}
            except Unreachable:
                raise
            except JsctlError:
                self._batches = False
        missing = [subject for subject in subjects if subject not in by_subject]
        for start in range(0, len(missing), _MAX_SINGLE):
            part = missing[start : start + _MAX_SINGLE]
            newest = await gather(fetch_newest(api, stream, subject, direct=self._direct) for subject in part)
            by_subject |= {message.subject: message for message in newest if message}
        return [by_subject[subject] for subject in subjects if subject in by_subject]
