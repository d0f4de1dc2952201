"""Changes of a bucket's objects as they happen."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from jsctl.jetstream.api import Api
from jsctl.jetstream.message.buffer import EventBuffer
from jsctl.jetstream.message.feed import ConsumerFeed, Options
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import ObjectInfo, build_info_filter, build_stream_name, decode_info
from jsctl.nats.message import Message


class Watcher:
    """One run of watching a bucket: iterate over `read_batches`; `stop` ends it in order.

    updates_only: leave out objects that already exist. warn: called with a sentence about each recoverable
    problem.
    """

    def __init__(self, api: Api, bucket: str, warn: Callable[[str], None], *, updates_only: bool) -> None:
        self._api = api
        self._bucket = bucket
        self._warn = warn
        self._policy = "new" if updates_only else "last_per_subject"
        self._buffer: EventBuffer[ObjectInfo] = EventBuffer()

    def stop(self) -> None:
        """End `read_batches` after the objects that have already been received."""
        self._buffer.close()

    async def read_batches(self) -> AsyncGenerator[Sequence[ObjectInfo], None]:
        """Yield objects as they are put and deleted. Raises MissingName, JsctlError."""
        await buckets.fetch_info(self._api, self._bucket)
        options = Options(
            build_stream_name(self._bucket),
            [build_info_filter(self._bucket)],
            {"deliver_policy": self._policy},
        )
        feed = ConsumerFeed(self._api, options, self._take, self._warn)
        work = asyncio.ensure_future(feed.run())
        self._buffer.close_after(work)
        try:
            async for batch in self._buffer.read_batches():
                yield batch
        finally:
            await feed.stop(work)

    def _take(self, message: Message) -> bool:
        object_info = decode_info(self._bucket, message)
        if object_info.damage:
            self._warn(f"jsctl: {object_info.damage}")
        else:
            self._buffer.add(object_info)
        return True
