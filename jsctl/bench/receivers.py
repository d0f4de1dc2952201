"""Clients that receive: from subjects, from consumers, and requests that they answer."""

import asyncio
import json
import sys
from collections import deque

from jsctl.base.command_lines import build_line
from jsctl.base.units import MS, SECOND, format_exact_duration, pluralize
from jsctl.bench.client import Client, Exchange, wait_until
from jsctl.bench.meter import now
from jsctl.errors import JsctlError, Unreachable
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.pull_status import PullEnd, explain_end
from jsctl.nats.acks import ACK
from jsctl.nats.codec import Tally, encode_publish
from jsctl.nats.message import Message
from jsctl.services.host import Responder


class Missing(JsctlError):
    """Fewer messages arrived than expected."""


async def subscribe(client: Client) -> None:
    """Receive what is published to a subject, from the first message on."""
    plan, meter = client.plan, client.meter
    subject = f"{plan.subject}.*" if plan.subjects >= 0 else plan.subject
    finished = asyncio.Event()
    goal, warm_up = client.goal, meter.warm_up
    result = meter.result

    def receive(message: Message) -> None:
        done = meter.done
        if goal and done >= goal:
            return
        if done >= warm_up:
            if not meter.is_measuring:
                meter.begin_now()
            meter.done = done + 1
            tally.remaining = (goal or sys.maxsize) - meter.done
            result.messages += 1
            result.bytes += len(message.data) + len(message.header_block)
            result.ended = now()
        else:
            meter.done = done + 1
        if done + 1 == goal:
            finished.set()

    def receive_many(count: int, size: int, replies: list[bytes]) -> None:
        meter.add(count, size)
        if meter.done == goal:
            finished.set()

    tally = Tally(receive_many, remaining=0)
    async with client.connection.receive(subject, receive, bulk=tally):
        await client.connection.flush()
        await client.start(measuring=False)
        await _wait_until_silent(client, finished)


async def _wait_until_silent(client: Client, finished: asyncio.Event) -> None:
    """Wait for the last message. Raises Missing when none arrives for the timeout after the first one."""
    done_before = 0
    while not finished.is_set():
        try:
            async with asyncio.timeout(client.timeout / SECOND):
                await finished.wait()
        except TimeoutError:
            if client.meter.done == done_before and done_before:
                raise _build_missing_error(client) from None
            done_before = client.meter.done


def _build_missing_error(client: Client) -> Missing:
    done, goal = client.meter.done, client.goal
    silence = f"nothing more arrived for {format_exact_duration(client.timeout)}"
    if not goal:
        return Missing(silence)
    return Missing(
        f"{done:,} of {pluralize(goal, 'message')} arrived, then {silence}",
        "--msgs sets how many to wait for, --timeout how long",
    )


async def serve(client: Client) -> None:
    """Answer requests until the benchmark is stopped."""
    plan, meter, connection = client.plan, client.meter, client.connection
    waiting: deque[Message] = deque()
    wake = asyncio.Event()

    def answer(message: Message) -> None:
        if not meter.is_measuring and meter.done >= meter.warm_up:
            meter.begin_now()
        if message.reply:
            connection.post(encode_publish(message.reply, b"ok"))
        meter.add(1, message.size)

    def enqueue(message: Message) -> None:
        waiting.append(message)
        wake.set()

    responder = Responder(
        connection,
        "jsctl-bench",
        plan.subject,
        enqueue if plan.sleep else answer,
        description="Answers requests of a benchmark",
        statistics=lambda: {"num_requests": meter.done, "num_errors": 0, "last_error": ""},
    )
    async with responder:
        await client.start(measuring=False)
        while not client.stopping:
            await wake.wait()
            wake.clear()
            while waiting:
                await wait_until(now() + plan.sleep)
                answer(waiting.popleft())


async def consume(client: Client) -> None:
    """Receive from the durable consumer, with requests sent ahead of time."""
    await _Pull(client, client.plan.consumer, acks=client.plan.acks).run()


async def consume_ordered(client: Client) -> None:
    """Receive from an ephemeral consumer that needs no acknowledgements and is stored in memory."""
    from jsctl.jetstream.consumer.config import with_filters  # workers for other clients start without it

    plan, api = client.plan, client.api
    name = f"{plan.run}-{client.number}"
    config = {
        "name": name,
        "deliver_policy": "all",
        "ack_policy": "none",
        "replay_policy": "instant",
        "mem_storage": True,
        "num_replicas": 1,
        "inactive_threshold": 10 * SECOND,
    }
    await consumers.create(api, plan.name, with_filters(config, plan.filters))
    try:
        await _Pull(client, name, acks="none").run()
    finally:
        if client.connection.is_connected:
            await consumers.delete(api, plan.name, name)


async def fetch(client: Client) -> None:
    """Receive from the durable consumer in batches: the next is requested when one is complete."""
    await _Pull(client, client.plan.consumer, acks=client.plan.acks, ahead=False).run()


class _Arrivals:
    """Messages that arrived and are not yet processed. messages: only if they are processed one by one."""

    def __init__(self) -> None:
        self.count = self.size = 0
        self.replies: list[bytes] = []
        self.messages: list[Message] = []

    def add(self, count: int, size: int, replies: list[bytes]) -> None:
        """Count messages that arrived."""
        self.count += count
        self.size += size
        self.replies += replies


class _Pull:
    """Requests to a consumer, and what it delivers.

    ahead: request more when half of a batch has arrived; else after the whole batch, and measure each batch.
    """

    def __init__(self, client: Client, consumer: str, *, acks: str, ahead: bool = True) -> None:
        plan = client.plan
        self._client = client
        self._inbox = client.connection.new_inbox()
        self._subject = f"{client.api.prefix}.CONSUMER.MSG.NEXT.{plan.name}.{consumer}"
        self._consumer = consumer
        self._ahead = ahead
        self._acks = acks
        self._batch = plan.batch
        self._open = 0  #: messages that were requested and have not arrived
        self._unrequested = client.goal or sys.maxsize  #: messages that are still to be requested
        self._arrived = _Arrivals()
        self._end_statuses: list[Message] = []
        self._wake = asyncio.Event()
        self._wake_at = 1  #: how many messages to wait for
        #: One message after the other: each is followed by a pause, or confirmed before the next.
        self._is_slow = bool(plan.sleep) or (plan.double_ack and acks != "none")

    def _receive(self, message: Message) -> None:
        if message.subject == self._inbox and message.header_block and message.status[0]:
            if message.status[0] != 100:
                self._end_statuses.append(message)
                self._wake.set()
            return
        if self._is_slow:
            self._arrived.messages.append(message)
        self._receive_many(1, message.size, [message.reply.encode()])

    def _receive_many(self, count: int, size: int, replies: list[bytes]) -> None:
        self._arrived.add(count, size, replies)
        self._open = max(self._open - count, 0)
        if self._ahead and self._open <= self._batch // 2 and (request := self._build_request()):
            # Sent at once, so that the server works while the other messages are read.
            self._client.connection.post(request, now=True)
        if self._arrived.count >= self._wake_at:
            self._wake.set()

    async def run(self) -> None:
        """Receive all messages. Raises Missing, and the consumer's refusals."""
        client = self._client
        # A part of a batch at a time, so that the next request is sent in time.
        tally = None if self._is_slow else Tally(self._receive_many, limit=max(self._batch // 4, 1))
        async with (
            client.connection.receive(self._inbox, self._receive, bulk=tally),
            Exchange(client) as exchange,
        ):
            await client.start()
            while client.wants_more:
                began = now()
                await self._request_more()
                arrived = await self._wait_for_messages()
                if not arrived.count:
                    raise _build_missing_error(client)
                await self._process(arrived, began, exchange)
            await client.connection.flush()

    async def _request_more(self) -> None:
        if request := self._build_request():
            await self._client.connection.send(request)

    def _build_request(self) -> bytes:
        """Return the next request; empty while enough messages are requested."""
        client = self._client
        if self._open > (self._batch // 2 if self._ahead else 0) or client.stopping:
            return b""
        count = min(self._batch - self._open, self._unrequested)
        if count <= 0:
            return b""
        self._open += count
        self._unrequested -= count
        body = json.dumps({"batch": count, "expires": max(client.timeout - 100 * MS, 50 * MS)})
        return encode_publish(self._subject, body.encode(), self._inbox)

    async def _wait_for_messages(self) -> "_Arrivals":
        """Return the messages that arrived: some, or for `fetch` the whole batch; none after the timeout."""
        self._wake_at = 1 if self._ahead else self._open + self._arrived.count
        deadline = now() + self._client.timeout
        while self._arrived.count < max(self._wake_at, 1):
            self._wake.clear()
            try:
                async with asyncio.timeout(max(deadline - now(), 0) / SECOND):
                    await self._wake.wait()
            except TimeoutError:
                break
            if self._end_statuses:
                self._check_end()
                break
        arrived, self._arrived = self._arrived, _Arrivals()
        if self._end_statuses:
            self._unrequested += max(self._open, 0)
            self._end_statuses, self._open = [], 0
        return arrived

    def _check_end(self) -> None:
        """Raise the error of a status other than the normal end of a request."""
        label = f"consumer {self._client.plan.name} > {self._consumer}"
        for message in self._end_statuses:
            code, description = message.status
            end = explain_end(code, description)
            if end is PullEnd.NO_RESPONDERS:
                raise Unreachable(
                    f"nobody answers for {label}", f"{build_line('consumer info')} shows its state"
                )
            if end is not PullEnd.COMPLETE:
                raise JsctlError(f"{label}: the server answers {description or 'without a reason'} ({code})")

    async def _process(self, arrived: "_Arrivals", began: int, exchange: Exchange) -> None:
        client, meter = self._client, self._client.meter
        if self._is_slow:
            await self._process_slowly(arrived.messages, exchange)
            return
        if self._acks != "none":
            replies = arrived.replies if self._acks == "explicit" else arrived.replies[-1:]
            await client.connection.send(b"".join([b"PUB %b 4\r\n+ACK\r\n" % reply for reply in replies]))
        if self._ahead:
            meter.add(arrived.count, arrived.size)
        else:
            meter.add_operation(began, arrived.count, arrived.size)

    async def _process_slowly(self, messages: list[Message], exchange: Exchange) -> None:
        client, plan = self._client, self._client.plan
        for message in messages:
            if client.stopping:
                return
            if plan.sleep:
                await wait_until(now() + plan.sleep)
            began = now()
            if self._acks != "none" and plan.double_ack:
                await exchange.ask(encode_publish(message.reply, ACK, exchange.reply), "$JS.ACK")
                client.meter.add_operation(began, 1, message.size)
                continue
            if self._acks != "none":
                client.connection.post(encode_publish(message.reply, ACK))
            client.meter.add(1, message.size)
