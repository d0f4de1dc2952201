"""A client that publishes by fast ingest (ADR-50): a stream stores messages as they arrive and acknowledges
many at once, at the pace that the client asks for and the server may lower."""

import asyncio
from collections import deque

from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND, pluralize
from jsctl.bench.client import Client
from jsctl.bench.meter import now
from jsctl.bench.publishers import Frames, build_no_stream_error, check_size, choose_burst_size
from jsctl.errors import JsctlError, RequestTimeout
from jsctl.jetstream.api import parse_response
from jsctl.nats.message import Message, is_no_responders

_START, _APPEND, _COMMIT = 0, 1, 2
"""Operations of messages on their batch, a token of their reply subjects."""


class FastIngest:
    """One batch. Groups of messages are in flight, each with one acknowledgement: two, or `max_acks`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.connection.new_inbox()
        plan = client.plan
        self._flow = plan.batch if plan.max_acks else max(plan.batch // 2, 1)  #: messages of an ack
        self._window = self._flow * (plan.max_acks or 2)  #: messages in flight
        self._frames = Frames(
            client,
            f"{self._inbox}.{self._flow}.fail",
            numbered=True,
            end=_format_operation(_APPEND),
            shift=1 - client.offset,
        )
        self._bursts: deque[tuple[int, int, int]] = (
            deque()
        )  #: last sequence, number of messages, time at which they were due
        self._acknowledged = 0
        self._sent = 0
        self._is_complete = False
        self._failure: JsctlError | None = None
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Publish one unbounded batch, up to `batch` messages, or `max_acks` times as many, ahead of their
        acknowledgements."""
        client, pace = self._client, self._client.pace
        check_size(client, self._frames)
        limit = min(choose_burst_size(self._frames), self._flow)
        async with client.connection.receive(f"{self._inbox}.>", self._receive):
            await client.connection.flush()
            await client.start()
            while not client.stopping and (not client.goal or self._sent < client.goal):
                await self._wait_until(self._window - 1)
                room = self._window - (self._sent - self._acknowledged)
                count = client.limit_burst(min(limit, room), self._sent)
                due = now() if pace.is_free else await pace.wait_until_due(self._sent)
                await self._send(pace.count_due(self._sent, count), due)
                await asyncio.sleep(0)
            if client.goal and self._sent >= client.goal:
                await self._wait_until(0)

    async def _send(self, count: int, due: int) -> None:
        client, frames = self._client, self._frames
        first = client.offset + self._sent
        block = frames.build_many(first, count)
        last = self._sent + count
        if not self._sent or last == client.goal:
            parts = [
                frames.build_frame(first + at, self._format_end(self._sent + at + 1)) for at in range(count)
            ]
            block = b"".join(parts)
        self._sent = last
        self._bursts.append((last, count, due))
        await client.connection.send(block)

    def _format_end(self, sequence: int) -> str:
        if sequence == self._client.goal:
            return _format_operation(_COMMIT)
        return _format_operation(_START if sequence == 1 else _APPEND)

    def _receive(self, message: Message) -> None:
        subject = self._client.plan.subject
        try:
            if not message.data and is_no_responders(message):
                raise build_no_stream_error(self._client)
            document = parse_json(message.data)
            if document.get("type") == "gap":
                raise JsctlError(
                    "the stream has lost messages of the batch", "try again, or use a smaller --batch"
                )
            ack = document if document.get("type") == "ack" else parse_response(message.data, subject)
            if "count" in ack:
                self._is_complete = True
                self._acknowledge(int(ack["count"]))
            elif "msgs" in ack:
                self._acknowledge(int(ack.get("seq", 0)))
            else:
                raise JsctlError(f"the responder on {subject} does not support fast ingest")
        except JsctlError as error:
            self._failure = self._failure or error
        except (ValueError, AttributeError):
            self._failure = self._failure or JsctlError(f"the answer on {subject} is malformed")
        self._wake.set()

    def _acknowledge(self, sequence: int) -> None:
        self._acknowledged = max(self._acknowledged, sequence)
        client, bursts = self._client, self._bursts
        while bursts and bursts[0][0] <= self._acknowledged:
            last, count, due = bursts.popleft()
            size = self._frames.compute_size(client.offset + last - count, count)
            client.meter.add_operation(due, count, size)

    async def _wait_until(self, limit: int) -> None:
        """Wait until at most `limit` messages are in flight. Raises RequestTimeout, and the stream's
        refusals."""
        timeout = self._client.timeout / SECOND
        while (
            self._failure or self._sent - self._acknowledged > limit or (not limit and not self._is_complete)
        ):
            if self._failure:
                raise self._failure
            self._wake.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._wake.wait()
            except TimeoutError:
                count = self._sent - self._acknowledged
                raise RequestTimeout(
                    f"no ack for {pluralize(count, 'message')} in {timeout:g}s",
                    "they may have been stored anyway",
                ) from None


def _format_operation(number: int) -> str:
    return f".{number}.$FI"
