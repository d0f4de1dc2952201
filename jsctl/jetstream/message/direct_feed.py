"""A feed without a consumer: batched direct gets (ADR-31)."""

import asyncio
import json
from collections.abc import Callable

from jsctl.errors import ApiError, BadInput, JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.feed import BATCH, Feed, Options, Sink
from jsctl.jetstream.stream import requests as streams
from jsctl.nats import codec as frames
from jsctl.nats.codec import Item, Meta
from jsctl.units import SECOND, parse_time_ns

_POLL = 0.25  #: seconds between requests at the end of the stream


class DirectFeed(Feed):
    """Reads with batched direct gets. At the stream's end it asks again
    four times a second."""

    def __init__(self, api: Api, options: Options, sink: Sink, say: Callable[[str], None]) -> None:
        super().__init__(api, options, sink, say)
        self._answer: tuple[int, str] | None = None
        self._came = 0  #: messages of this batch
        self._current = b""

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
        self._connection.watchers.append(self._watch)
        try:
            async with self._connection.receive(f"{inbox}.*", self._take):
                await self._read(request, inbox, end)
        finally:
            self._connection.watchers.remove(self._watch)

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
            self._current = str(number).encode()
            self._answer, self._came = None, 0
            batch = min(BATCH, self._left) if self._options.limit else BATCH
            body = {**request, "batch": batch}
            if only and "multi_last" not in body:
                body["next_by_subj"] = only
            await self._connection.send(
                frames.frame(
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

    def _take(self, subject: bytes, reply: bytes, header: bytes, data: bytes) -> None:
        if subject.rpartition(b".")[2] != self._current:
            return
        code, said = frames.status(header)
        if code:
            self._answer = code, said
            self._wake.set()
            return
        item = direct_item(header, data)
        if item is None or item.meta is None or self._finished:
            return
        self._came += 1
        self._last = max(self._last, item.meta.sequence)
        subjects = self._options.subjects
        if subjects and not any(frames.matches(pattern, item.subject) for pattern in subjects):
            return
        self._hand(item)


def direct_item(header: bytes, data: bytes) -> Item | None:
    """A reply to a direct get as the message that was stored: the server's own headers come last."""
    begin = header.rfind(b"\r\nNats-Stream: ")
    if begin < 0:
        return None
    said = dict(
        line.partition(": ")[::2] for line in header[begin + 2 :].decode(errors="replace").split("\r\n")
    )
    try:
        meta = Meta(
            said["Nats-Stream"], "", 1, int(said["Nats-Sequence"]), 0,
            parse_time_ns(said["Nats-Time-Stamp"]), int(said.get("Nats-Num-Pending", 0)),
        )  # fmt: skip
        stored = header[: begin + 2] + b"\r\n" if begin > len("NATS/1.0") else b""
        return Item(said["Nats-Subject"], data, "", stored, meta)
    except (KeyError, ValueError):
        return None
