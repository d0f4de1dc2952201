"""A feed without a consumer: batched direct gets (ADR-31)."""

import asyncio
import json
from collections.abc import Callable

from jsctl.errors import ApiError, BadInput, JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.feed import BATCH, Feed, Options, Sink
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.codec import encode_publish
from jsctl.nats.direct_get import parse_direct_reply
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches
from jsctl.units import SECOND

_POLL = 0.25  #: seconds between requests at the end of the stream


class DirectFeed(Feed):
    """Reads with batched direct gets. At the stream's end it asks again
    four times a second."""

    def __init__(self, api: Api, options: Options, sink: Sink, say: Callable[[str], None]) -> None:
        super().__init__(api, options, sink, say)
        self._answer: tuple[int, str] | None = None
        self._came = 0  #: messages of this batch
        self._current = ""

    async def run(self) -> None:
        """Raises BadInput when the stream does not allow it."""
        info = await streams.info(self._api, self._options.stream)
        config, state = info["config"], info["state"]
        if not config.get("allow_direct"):
            raise BadInput(
                f"stream {self._options.stream} does not allow direct gets",
                "leave out --direct, or jsctl stream edit --allow-direct",
            )
        request = await self._first(state)
        end = int(state.get("last_seq", 0))
        inbox = self._connection.new_inbox()
        with self._connection.watching(self._watch):
            async with self._connection.receive(f"{inbox}.*", self._handle):
                await self._read(request, inbox, end)

    async def _first(self, state: Json) -> Json:
        start = self._options.start
        last = int(state.get("last_seq", 0))
        match start.get("deliver_policy", "all"):
            case "by_start_sequence":
                return {"seq": int(start["opt_start_seq"])}
            case "by_start_time":
                return {"start_time": start["opt_start_time"]}
            case "last":
                return {
                    "seq": max([await self._newest(subject) for subject in self._options.subjects or [">"]])
                }
            case "last_per_subject":
                return {"multi_last": list(self._options.subjects or [">"])}
            case "new":
                return {"seq": last + 1}
            case _:
                return {"seq": max(int(state.get("first_seq", 0)), 1)}

    async def _newest(self, subject: str) -> int:
        """Sequence of the last message, the next one's where there is none."""
        try:
            found = await self._api.call(f"STREAM.MSG.GET.{self._options.stream}", {"last_by_subj": subject})
        except ApiError as error:
            if error.code != 404:
                raise
            return 1
        return int(found["message"]["seq"])

    async def _read(self, request: Json, inbox: str, end: int) -> None:
        subjects = self._options.subjects
        only = subjects[0] if len(subjects) == 1 else ""
        number = 0
        while not self._finished:
            number += 1
            self._current = str(number)
            self._answer, self._came = None, 0
            batch = min(BATCH, self._left) if self._options.limit else BATCH
            body = {**request, "batch": batch}
            if only and "multi_last" not in body:
                body["next_by_subj"] = only
            await self._connection.send(
                encode_publish(
                    f"{self._api.prefix}.DIRECT.GET.{self._options.stream}",
                    json.dumps(body).encode(),
                    f"{inbox}.{number}",
                )
            )
            await self._answered()
            if self._finished:
                return
            request = self._after(request, end)
            if self._trouble:
                self.troubles += 1
                self._trouble = ""
            elif self._answer is not None and (self._answer[0] == 404 or not self._came):
                if self._options.to_end:
                    return
                await asyncio.sleep(_POLL)

    def _after(self, request: Json, end: int) -> Json:
        """What to ask for next."""
        if self._last:
            # All last messages came in one batch, or the next batch goes on among them.
            if "multi_last" in request and self._came >= BATCH:
                return {**request, "seq": self._last + 1, "up_to_seq": end}
            return {"seq": max(self._last, end if "multi_last" in request else 0) + 1}
        if "multi_last" in request:
            return {"seq": end + 1}
        return request

    async def _answered(self) -> None:
        while self._answer is None and not self._finished and not self._trouble:
            self._wake.clear()
            try:
                async with asyncio.timeout(self._api.timeout / SECOND):
                    await self._wake.wait()
            except TimeoutError:
                self._in_trouble("the server was silent")
        if self._answer is None:
            if self._trouble:
                self._say(f"jsctl: {self._trouble}; going on after sequence {self._last}")
                await self._connection.reconnected()
            return
        code, said = self._answer
        if code == 503:
            raise NotFound(
                f"nobody answers direct gets of stream {self._options.stream}", "is direct get allowed there?"
            )
        if code == 413:
            raise JsctlError(f"the server says {said}", "name fewer subjects")
        if code not in (204, 404):
            raise JsctlError(f"the server says {said or code}")

    def _handle(self, reply: Message) -> None:
        if reply.subject.rpartition(".")[2] != self._current:
            return
        if reply.status[0]:
            self._answer = reply.status
            self._wake.set()
            return
        parsed = parse_direct_reply(reply.header_block)
        if parsed is None or self._finished:
            return
        item = parsed.message(reply.data)
        self._came += 1
        self._last = max(self._last, item.sequence)
        subjects = self._options.subjects
        if subjects and not any(matches(pattern, item.subject) for pattern in subjects):
            return
        self._hand(item)
