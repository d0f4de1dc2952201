"""Clients that receive: from subjects, from consumers, and requests that they answer."""

import asyncio
import json
import sys
from collections import deque

from jsctl.bench.client import Client, Exchange, wait_until
from jsctl.bench.meter import now
from jsctl.errors import JsctlError, Unreachable
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.pull_status import PullEnd, explain_end
from jsctl.nats.acks import ACK
from jsctl.nats.codec import Tally, encode_publish
from jsctl.nats.message import Message
from jsctl.services.host import Responder
from jsctl.units import MS, SECOND, format_exact_duration


class Missing(JsctlError):
    """Fewer messages arrived than expected."""


async def subscribe(client: Client) -> None:
    """Receive what is published to a subject, from the first message on."""
    plan, meter = client.plan, client.meter
    subject = f"{plan.subject}.*" if plan.subjects >= 0 else plan.subject
    enough = asyncio.Event()
    goal, warm_up = client.goal, meter.warm_up
    result = meter.result

    def take(message: Message) -> None:
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
            enough.set()

    def take_many(count: int, size: int, replies: list[bytes]) -> None:
        meter.add(count, size)
        if meter.done == goal:
            enough.set()

    tally = Tally(take_many, remaining=0)
    async with client.connection.receive(subject, take, tally=tally):
        await client.connection.flush()
        await client.start(measuring=False)
        await _until_silent(client, enough)


async def _until_silent(client: Client, enough: asyncio.Event) -> None:
    """Wait for the last message, or until none has arrived for the timeout after the first one."""
    seen = 0
    while not enough.is_set():
        try:
            async with asyncio.timeout(client.timeout / SECOND):
                await enough.wait()
        except TimeoutError:
            if client.meter.done == seen and seen:
                raise _missing(client) from None
            seen = client.meter.done


def _missing(client: Client) -> Missing:
    done, goal = client.meter.done, client.goal
    silence = f"nothing more arrived for {format_exact_duration(client.timeout)}"
    if not goal:
        return Missing(silence)
    return Missing(
        f"{done:,} of {goal:,} messages arrived, then {silence}",
        "--msgs says how many to wait for, --timeout how long",
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

    def queue(message: Message) -> None:
        waiting.append(message)
        wake.set()

    responder = Responder(
        connection,
        "jsctl-bench",
        plan.subject,
        queue if plan.sleep else answer,
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
    """Receive from the durable consumer, with requests ahead of what is needed."""
    await _Pull(client, client.plan.consumer, acks=client.plan.acks).run()


async def consume_ordered(client: Client) -> None:
    """Receive from an ephemeral consumer that needs no acknowledgements and is stored in memory."""
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
        **build_filters(plan.filters),
    }
    await consumers.create(api, plan.name, config)
    try:
        await _Pull(client, name, acks="none").run()
    finally:
        if client.connection.is_connected:
            await consumers.delete(api, plan.name, name)


def build_filters(filters: tuple[str, ...]) -> dict[str, object]:
    """Return the key of a consumer's configuration that holds its subject filters."""
    if len(filters) == 1:
        return {"filter_subject": filters[0]}
    return {"filter_subjects": list(filters)} if filters else {}


async def fetch(client: Client) -> None:
    """Receive from the durable consumer in batches: the next is requested when one is complete."""
    await _Pull(client, client.plan.consumer, acks=client.plan.acks, ahead=False).run()


class _Arrived:
    """Messages that arrived and are not used yet. messages: where they are used one by one."""

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

    ahead: request more when half of a batch has arrived; else when all of it has, and measure each batch.
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
        self._open = 0  #: messages that were asked for and have not arrived
        self._unasked = client.goal or sys.maxsize  #: messages that are wanted and were not asked for
        self._arrived = _Arrived()
        self._ended: list[Message] = []
        self._wake = asyncio.Event()
        self._wake_at = 1  #: how many messages to wait for
        #: A message after the other: each takes its time, or is confirmed before the next.
        self._is_slow = bool(plan.sleep) or (plan.double_ack and acks != "none")

    def _take(self, message: Message) -> None:
        if message.subject == self._inbox and message.header_block and message.status[0]:
            if message.status[0] != 100:
                self._ended.append(message)
                self._wake.set()
            return
        if self._is_slow:
            self._arrived.messages.append(message)
        self._take_many(1, message.size, [message.reply.encode()])

    def _take_many(self, count: int, size: int, replies: list[bytes]) -> None:
        self._arrived.add(count, size, replies)
        self._open = max(self._open - count, 0)
        if self._ahead and self._open <= self._batch // 2 and (request := self._next_request()):
            # At once: the server works on it while what came with this message is read.
            self._client.connection.post(request, now=True)
        if self._arrived.count >= self._wake_at:
            self._wake.set()

    async def run(self) -> None:
        """Receive all messages. Raises Missing, and the consumer's refusals."""
        client = self._client
        # A batch at a time, so that requests ahead go out in time.
        tally = None if self._is_slow else Tally(self._take_many, limit=max(self._batch // 4, 1))
        async with (
            client.connection.receive(self._inbox, self._take, tally=tally),
            Exchange(client) as exchange,
        ):
            await client.start()
            while client.wants_more:
                began = now()
                await self._ask()
                arrived = await self._next()
                if not arrived.count:
                    raise _missing(client)
                await self._use(arrived, began, exchange)
            await client.connection.flush()

    async def _ask(self) -> None:
        if request := self._next_request():
            await self._client.connection.send(request)

    def _next_request(self) -> bytes:
        """Return the next request; empty while enough messages are requested."""
        client = self._client
        if self._open > (self._batch // 2 if self._ahead else 0) or client.stopping:
            return b""
        count = min(self._batch - self._open, self._unasked)
        if count <= 0:
            return b""
        self._open += count
        self._unasked -= count
        body = json.dumps({"batch": count, "expires": max(client.timeout - 100 * MS, 50 * MS)})
        return encode_publish(self._subject, body.encode(), self._inbox)

    async def _next(self) -> "_Arrived":
        """Return what arrived: something, or for `fetch` the whole batch; nothing after the timeout."""
        self._wake_at = 1 if self._ahead else self._open + self._arrived.count
        deadline = now() + self._client.timeout
        while self._arrived.count < max(self._wake_at, 1):
            self._wake.clear()
            try:
                async with asyncio.timeout(max(deadline - now(), 0) / SECOND):
                    await self._wake.wait()
            except TimeoutError:
                break
            if self._ended:
                self._check_end()
                break
        arrived, self._arrived = self._arrived, _Arrived()
        if self._ended:
            self._unasked += max(self._open, 0)
            self._ended, self._open = [], 0
        return arrived

    def _check_end(self) -> None:
        """Raise the error of a status that is more than the end of a request."""
        what = f"consumer {self._client.plan.name} > {self._consumer}"
        for message in self._ended:
            code, description = message.status
            end = explain_end(code, description)
            if end is PullEnd.NO_RESPONDERS:
                raise Unreachable(f"nobody answers for {what}", "jsctl consumer info shows its state")
            if end is not PullEnd.COMPLETE:
                raise JsctlError(f"{what}: the server answers {description or 'without a reason'} ({code})")

    async def _use(self, arrived: "_Arrived", began: int, exchange: Exchange) -> None:
        client, meter = self._client, self._client.meter
        if self._is_slow:
            await self._use_slowly(arrived.messages, exchange)
            return
        if self._acks != "none":
            replies = arrived.replies if self._acks == "explicit" else arrived.replies[-1:]
            await client.connection.send(b"".join([b"PUB %b 4\r\n+ACK\r\n" % reply for reply in replies]))
        if self._ahead:
            meter.add(arrived.count, arrived.size)
        else:
            meter.operation(began, arrived.count, arrived.size)

    async def _use_slowly(self, messages: list[Message], exchange: Exchange) -> None:
        client, plan = self._client, self._client.plan
        for message in messages:
            if client.stopping:
                return
            if plan.sleep:
                await wait_until(now() + plan.sleep)
            began = now()
            if self._acks != "none" and plan.double_ack:
                await exchange.ask(encode_publish(message.reply, ACK, exchange.reply), "$JS.ACK")
                client.meter.operation(began, 1, message.size)
                continue
            if self._acks != "none":
                client.connection.post(encode_publish(message.reply, ACK))
            client.meter.add(1, message.size)
