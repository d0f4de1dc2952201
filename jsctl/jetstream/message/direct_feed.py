"""A feed without a consumer: direct gets in batches (ADR-31), completed by the stream's leader."""

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import aclosing

from jsctl.base.command_lines import build_line
from jsctl.errors import BadInput, JsctlError, NotFound, Unreachable
from jsctl.jetstream.api import Json, is_transient
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.feed import BATCH, Feed
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches

_POLL = 0.25  #: seconds between requests at the end of the stream


class DirectFeed(Feed):
    """A feed that reads with direct gets. At the stream's end it polls four times a second."""

    async def run(self) -> None:
        """Read until the feed ends. Raises BadInput when the stream does not allow direct gets."""
        stream = self._source.name
        info = await streams.fetch_info(self._api, stream)
        config, state = info["config"], info["state"]
        if not config.get("allow_direct"):
            raise BadInput(
                f"stream {stream} does not allow direct gets",
                f"leave out --direct, or {build_line('stream edit', flags=['--allow-direct'])}",
            )
        with self._connection.watching(self._watch):
            await self._read_from_start(stream, state)

    async def _read_from_start(self, stream: str, state: Json) -> None:
        if self._source.start.get("deliver_policy") == "last_per_subject":
            subjects = list(self._options.subjects or [">"])
            position = int(state.get("last_seq", 0)) + 1
            try:
                async with aclosing(browse.read_last(self._api, stream, subjects, self._batch)) as pages:
                    async for page in pages:
                        if self._deliver_page(page):
                            return
                if self._finished:
                    return
            except JsctlError as error:
                if not is_transient(error) or not self._last:
                    raise
                self._report_trouble(error.message)  # reading on after it leaves nothing out
                await self._wait_until_connected()
            await self._read(self._last + 1 if self._last else position)
        else:
            await self._read(await self._find_first(state))

    @property
    def _batch(self) -> int:
        return min(BATCH, self._remaining) if self._options.limit else BATCH

    async def _find_first(self, state: Json) -> int:
        """Return the sequence to begin with, by the delivery policy."""
        start, stream = self._source.start, self._source.name
        next_sequence = int(state.get("last_seq", 0)) + 1
        match start.get("deliver_policy", "all"):
            case "by_start_sequence":
                return int(start["opt_start_seq"])
            case "by_start_time":
                first = await browse.fetch_since(self._api, stream, start["opt_start_time"])
                return first.sequence if first else next_sequence
            case "last":
                return max([await self._find_newest(subject) for subject in self._options.subjects or [">"]])
            case "new":
                return next_sequence
            case _:
                return max(int(state.get("first_seq", 0)), 1)

    async def _find_newest(self, subject: str) -> int:
        """Return the sequence of the last message on a subject, 1 when there is none."""
        try:
            return (await browse.fetch_last(self._api, self._source.name, subject)).sequence
        except NotFound:
            return 1

    async def _read(self, position: int) -> None:
        """Read from a sequence to the requested end, across lost connections."""
        api, stream = self._api, self._source.name
        subjects = self._options.subjects
        subject = subjects[0] if len(subjects) == 1 else ""
        while True:
            position = max(position, self._last + 1)
            if self._trouble:
                self.troubles += 1
                self._say_once(f"jsctl: {self._trouble}; continuing after sequence {position - 1}")
                self._trouble = ""
            try:
                if self._source.to_end or await browse.fetch_next(api, stream, position, subject):
                    reading = browse.read_batches(
                        api, stream, start=position, subject=subject, bulk=True, batch=self._batch
                    )
                    async with aclosing(reading) as batches:
                        async for messages in batches:
                            if self._deliver_page(messages):
                                return
                    if self._finished or self._source.to_end:
                        return
                else:
                    self._hear()
                    await asyncio.sleep(_POLL)
            except JsctlError as error:
                if not is_transient(error):
                    raise
                self._check_budget()
                self._report_trouble(error.message)
                await self._wait_until_connected()

    async def _wait_until_connected(self) -> None:
        """Wait without a time limit until a lost connection is made again."""
        while not self._finished and not self._connection.is_connected:
            with contextlib.suppress(Unreachable):
                await self._connection.wait_until_connected()
            await asyncio.sleep(_POLL)

    def _deliver_page(self, messages: Sequence[Message]) -> bool:
        """Deliver those of a page that are on the subjects; return whether the feed is finished."""
        subjects = self._options.subjects
        self._hear()
        self._last = max(self._last, messages[-1].sequence)
        if subjects:
            messages = [
                message
                for message in messages
                if any(matches(pattern, message.subject) for pattern in subjects)
            ]
        self._deliver(messages)
        return self._finished
