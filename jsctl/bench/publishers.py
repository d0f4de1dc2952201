"""Clients that publish: without acknowledgement, or to a stream."""

import asyncio
from collections.abc import Callable

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND, pluralize
from jsctl.bench.client import Client, Exchange, parse_refusal
from jsctl.bench.meter import now
from jsctl.errors import JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.message.publish import parse_ack
from jsctl.jetstream.message.publish_atomic import MAX_BATCH
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage

_MAX_BURST_BYTES = 1 << 17
"""Maximum number of bytes that are passed to the connection at once."""

_MAX_BURST = 4096
"""Maximum number of messages that are passed to the connection at once."""


class Frames:
    """The frames of a client's messages.

    A pattern holds the bytes that all messages share, with a gap for the number. size: bytes of a
    message's payload and headers, at most.
    """

    def __init__(
        self, client: Client, reply: str = "", *, numbered: bool = False, end: str = "", shift: int = 0
    ) -> None:
        """Prepare the messages of a client.

        reply: the reply subject. numbered: the message's number plus `shift`, and `end`, follow it.
        """
        plan = client.plan
        self._client = client
        self._subjects = plan.subjects
        self._is_random = plan.random
        self._ids = f"{plan.run}-{client.number}-" if plan.ids else ""
        self._block = plan.header_block
        self._payload = plan.payload
        self._numbered = numbered
        self._subject = plan.subject
        self._reply, self._end, self._shift = reply, end, shift
        self.size = len(self.build_block(client.goal or 1)) + len(plan.payload)
        self.is_fixed = not (numbered or self._ids or self._subjects >= 0)
        self._fixed = self.build_frame(0) if self.is_fixed else b""
        self._is_plain = numbered and not self._ids and self._subjects < 0
        head, tail = (b"HPUB", b" %d %d\r\n") if self._block else (b"PUB", b" %d\r\n")
        sizes = (len(self._block), self.size) if self._block else (self.size,)
        prefix = b"%b %b %b." % (head, plan.subject.encode(), reply.encode())
        suffix = end.encode() + (tail % sizes) + self._block + plan.payload + b"\r\n"
        self._pattern = prefix.replace(b"%", b"%%") + b"%d" + suffix.replace(b"%", b"%%")

    def build_subject(self, number: int) -> str:
        """Return the subject of message `number`."""
        subjects = self._subjects
        if subjects < 0:
            return self._subject
        if subjects == 0:
            return f"{self._subject}.{number}"
        token = self._client.choose_random(subjects) if self._is_random else number % subjects
        return f"{self._subject}.{token:0{len(str(subjects))}d}"

    def build_block(self, number: int) -> bytes:
        """Return the header block of message `number`."""
        if not self._ids:
            return self._block
        pairs = [*parse_headers(self._block), ("Nats-Msg-Id", f"{self._ids}{number}")]
        return encode_headers(pairs)

    def build_frame(self, number: int, end: str = "") -> bytes:
        """Return one frame. end: the last token of its reply subject, instead of the common one."""
        reply = f"{self._reply}.{number + self._shift}{end or self._end}" if self._numbered else self._reply
        message = OutgoingMessage(self.build_subject(number), self._payload, reply, self.build_block(number))
        return message.encode()

    def build_with_block(self, number: int, block: bytes, reply: str) -> bytes:
        """Return one frame with other headers and another reply subject."""
        return OutgoingMessage(self.build_subject(number), self._payload, reply, block).encode()

    @property
    def payload_size(self) -> int:
        """Bytes of a message's payload."""
        return len(self._payload)

    def build_many(self, first: int, count: int) -> bytes:
        """Return the frames of consecutive messages."""
        if self.is_fixed:
            return self._fixed * count
        if self._is_plain:
            pattern = self._pattern
            start = first + self._shift
            return b"".join([pattern % number for number in range(start, start + count)])
        return b"".join(map(self.build_frame, range(first, first + count)))

    def compute_size(self, first: int, count: int) -> int:
        """Return the bytes of payloads and headers of consecutive messages."""
        if not self._ids:
            return self.size * count
        sizes = sum(len(self.build_block(number)) for number in range(first, first + count))
        return sizes + len(self._payload) * count


def check_size(client: Client, frames: Frames) -> None:
    """Raise BadInput for messages that are larger than the server accepts."""
    client.connection.check_size(
        OutgoingMessage("", client.plan.payload, "", frames.build_block(client.goal or 1))
    )


def choose_burst_size(frames: Frames) -> int:
    """Return how many messages are passed to the connection at once."""
    return max(1, min(_MAX_BURST, _MAX_BURST_BYTES // (frames.size + 32)))


async def publish(client: Client) -> None:
    """Publish without acknowledgement. Latencies are those of passing messages to the connection."""
    frames = Frames(client)
    check_size(client, frames)
    meter, pace, send, offset = client.meter, client.pace, client.connection.send, client.offset
    burst = choose_burst_size(frames)
    await client.start()
    while client.wants_more:
        number = meter.done
        if pace.is_free:
            count = client.limit_burst(burst, number)
            began = now()
            await send(frames.build_many(offset + number, count))
            meter.add_operation(began, count, frames.compute_size(offset + number, count))
        else:
            planned = await pace.wait_until_due(number)
            count = client.limit_burst(pace.count_due(number, burst), number)
            await send(frames.build_many(offset + number, count))
            meter.add(count, frames.compute_size(offset + number, count))
            ended = now()
            if meter.is_measuring:
                meter.latencies.add_many(ended - planned - int(at * pace.interval) for at in range(count))
        await asyncio.sleep(0)  # lets other clients and ctrl-C run
    await client.connection.flush()
    meter.add(0, 0)


async def request(client: Client) -> None:
    """Send requests, each after the reply to the last."""
    async with Exchange(client) as exchange:
        frames = Frames(client, exchange.reply)
        check_size(client, frames)
        await _exchange_each(client, exchange, frames, lambda message, subject: None)


async def publish_sync(client: Client) -> None:
    """Publish to a stream, each message after the acknowledgement of the last."""
    async with Exchange(client) as exchange:
        frames = Frames(client, exchange.reply)
        check_size(client, frames)
        try:
            await _exchange_each(client, exchange, frames, _check_ack)
        except NoResponders:
            raise build_no_stream_error(client) from None


def _check_ack(message: Message, subject: str) -> None:
    if not message.data.startswith(b'{"stream":'):
        parse_ack(subject, message)


def build_no_stream_error(client: Client) -> NoResponders:
    """Return the error for a subject that no stream stores."""
    return NoResponders(
        f"no stream stores {client.plan.subject}",
        f"--create creates one; {build_line('stream find')} shows the streams",
    )


async def _exchange_each(
    client: Client, exchange: Exchange, frames: Frames, check: Callable[[Message, str], None]
) -> None:
    meter, pace, offset = client.meter, client.pace, client.offset
    fixed = frames.build_many(0, 1) if frames.is_fixed else b""
    subject = client.plan.subject
    await client.start()
    while client.wants_more:
        number = meter.done
        began = now() if pace.is_free else await pace.wait_until_due(number)
        frame = fixed or frames.build_frame(offset + number)
        message = await exchange.ask(frame, subject)
        check(message, subject)
        meter.add_operation(began, 1, frames.size if fixed else frames.compute_size(offset + number, 1))


class AckWindow:
    """A window of messages that are not yet acknowledged, by number."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.connection.new_inbox()
        self._frames = Frames(client, self._inbox, numbered=True)
        self._due: dict[int, int] = {}  #: when each message was due
        self._failure: JsctlError | None = None
        self._resume_at = 0  #: the number of open messages at which more are sent
        self._wake = asyncio.Event()
        self._size = self._frames.size

    async def run(self) -> None:
        """Publish to a stream, up to `batch` messages ahead of their acknowledgements."""
        client, meter, pace = self._client, self._client.meter, self._client.pace
        check_size(client, self._frames)
        batch, burst = client.plan.batch, choose_burst_size(self._frames)
        async with client.connection.receive(f"{self._inbox}.*", self._receive):
            await client.connection.flush()
            await client.start()
            sent = 0
            while not client.stopping and (not client.goal or sent < client.goal):
                allowed = client.limit_burst(min(burst, batch - len(self._due)), sent)
                planned = now() if pace.is_free else await pace.wait_until_due(sent)
                count = pace.count_due(sent, allowed)
                for at in range(count):
                    self._due[client.offset + sent + at] = planned + int(at * pace.interval)
                await client.connection.send(self._frames.build_many(client.offset + sent, count))
                sent += count
                if sent == meter.warm_up:
                    await self._wait_until_open(0)
                if pace.is_free:
                    await self._wait_until_open(batch // 2 if len(self._due) >= batch else batch)
                else:
                    await self._wait_until_open(batch - 1)
                    await asyncio.sleep(0)
            await self._wait_until_open(0)

    def _receive(self, message: Message) -> None:
        number = int(message.subject.rpartition(".")[2])
        planned = self._due.pop(number, None)
        if planned is None:
            return
        data = message.data
        if not data.startswith(b'{"stream":'):
            try:
                parse_ack(self._client.plan.subject, message)
            except NoResponders:
                self._failure = self._failure or build_no_stream_error(self._client)
            except JsctlError as error:
                self._failure = self._failure or error
            if self._failure:
                self._wake.set()
                return
        size = self._frames.compute_size(number, 1)
        self._client.meter.add_operation(planned, 1, size)
        if len(self._due) <= self._resume_at:
            self._wake.set()

    async def _wait_until_open(self, limit: int) -> None:
        """Wait until at most `limit` messages are open. Raises RequestTimeout, and the stream's refusals."""
        self._resume_at = limit
        timeout = self._client.timeout / SECOND
        while len(self._due) > limit or self._failure:
            if self._failure:
                raise self._failure
            done_before = self._client.meter.done
            self._wake.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._wake.wait()
            except TimeoutError:
                if self._client.meter.done == done_before:
                    raise RequestTimeout(
                        f"no ack for {pluralize(len(self._due), 'message')} in {timeout:g}s",
                        "they may have been stored anyway; --timeout waits longer",
                    ) from None


async def publish_batches(client: Client) -> None:
    """Publish atomic batches to a stream, each after the acknowledgement of the last (ADR-50)."""
    plan, meter, pace = client.plan, client.meter, client.pace
    async with Exchange(client) as exchange:
        frames = Frames(client)
        check_size(client, frames)
        await client.start()
        batches = 0
        while client.wants_more:
            first = meter.done
            count = client.limit_burst(min(plan.batch, MAX_BATCH), first)
            began = now() if pace.is_free else await pace.wait_until_due(first)
            name = f"{plan.run}-{client.number}-{batches}"
            batches += 1
            block, size = _build_batch(frames, client.offset + first, count, name, exchange.reply)
            # Only the last message of the block is answered.
            message = await exchange.ask(block, plan.subject)
            try:
                _check_batch(message, plan.subject, count)
            except NoResponders:
                raise build_no_stream_error(client) from None
            meter.add_operation(began, count, size)


def _build_batch(frames: Frames, first: int, count: int, name: str, reply: str) -> tuple[bytes, int]:
    parts: list[bytes] = []
    size = 0
    for at in range(count):
        pairs = [("Nats-Batch-Id", name), ("Nats-Batch-Sequence", str(at + 1))]
        if at == count - 1:
            pairs.append(("Nats-Batch-Commit", "1"))
        own_block = frames.build_block(first + at)
        lines = b"".join(b"%b: %b\r\n" % (key.encode(), value.encode()) for key, value in pairs)
        block = (own_block[:-2] if own_block else b"NATS/1.0\r\n") + lines + b"\r\n"
        size += len(own_block)
        parts.append(frames.build_with_block(first + at, block, reply if at == count - 1 else ""))
    return b"".join(parts), size + frames.payload_size * count


def _check_batch(message: Message, subject: str, count: int) -> None:
    if error := parse_refusal(message, subject):
        raise error
    ack = parse_ack(subject, message)
    if int(ack.get("count", 0)) != count:
        raise JsctlError(
            f"the stream stored a batch of {pluralize(count, 'message')} as single messages",
            f"allow atomic batches: {build_line('stream edit', flags=['--allow-batch'])}",
        )
