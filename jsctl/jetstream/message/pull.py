"""Pulling messages from a consumer with only NEXT and ACK, the minimum that an import may offer.

Replies to NEXT carry the subject of the stored message, so they need an inbox subscription of their own.
Statuses: ADR-37. The reply subject of a message contains its sequences (ADR-15).
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from jsctl.base.command_lines import build_line
from jsctl.base.units import MS, SECOND, format_exact_duration, format_time, parse_duration
from jsctl.errors import Denied, JsctlError, NoResponders, NotFound, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.pull_status import PullEnd, explain_end
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected, PermissionDenied
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message

BATCH = 500
"""Number of messages requested at once, well below the 1,000 that may await acknowledgement by default."""

_CAREFUL_SHARE = 16
"""With a reader that may stop, such as `head`, at most this part of what it has read is requested at once."""

_MIN_EXPIRES = 50 * MS  #: minimum time that a request waits
_MARGIN = 500 * MS  #: time that a reply may be on its way after the request expired

EndStatus = tuple[int, str]
"""A status that ended a request: code and description."""


async def pull(
    api: Api,
    stream: str,
    consumer: str,
    count: int,
    *,
    wait: int,
    batch: int = BATCH,
    careful: bool = False,
    group: str = "",
) -> AsyncGenerator[list[Message], None]:
    """Iterate over at most `count` messages, in lists as they are received.

    wait: ns without a message after which it ends. careful: whether few are requested ahead, as they may not
    be taken; one at first. group: the priority group to pull for. Raises NotFound
    without any message or without the consumer; JsctlError for a push consumer and other refusals of the
    server; Unreachable, Denied.
    """
    puller = _Puller(api, stream, consumer, wait, batch, careful, group)
    with api.connection.watching(puller.watch):
        async with api.connection.receive(puller.inbox, puller.handle):
            async for messages in puller.run(count):
                yield messages
    if not puller.received:
        await _refuse_paused(api, stream, consumer)
        raise NotFound(f"no message for {stream} > {consumer} in {format_exact_duration(wait)}")


async def _refuse_paused(api: Api, stream: str, consumer: str) -> None:
    """Raise NotFound if a consumer gives nothing because it is paused. A login may lack the right to ask."""
    info: Json = {}
    with contextlib.suppress(JsctlError):
        info = await api.call(f"CONSUMER.INFO.{stream}.{consumer}", timeout=min(api.timeout, SECOND))
    if info.get("paused"):
        until = format_time(info["config"].get("pause_until"))
        hint = f"{build_line('consumer resume', stream, consumer)} ends that"
        raise NotFound(f"no message for {stream} > {consumer}: it is paused until {until}", hint)


class _Puller:
    """The open requests of a pull, and the replies on their inbox."""

    def __init__(
        self, api: Api, stream: str, consumer: str, wait: int, batch: int, careful: bool, group: str
    ) -> None:
        self.inbox = api.connection.new_inbox()
        self.received = 0
        self._api = api
        self._stream, self._consumer = stream, consumer
        self._wait = wait
        self._batch = batch
        self._careful = careful
        self._request: dict[str, str] = {"group": group} if group else {}
        self._longest = wait  #: ns that the consumer allows a request to wait
        self._open = 0  #: messages that were requested and have not arrived
        self._messages: list[Message] = []
        self._ends: list[
            tuple[EndStatus, int]
        ] = []  #: statuses that ended requests, each with the number of messages that it left out
        self._error: JsctlError | None = None
        self._wake = asyncio.Event()

    def handle(self, message: Message) -> None:
        block = message.header_block
        if message.subject != self.inbox:
            self._messages.append(message)
            if pin := block and find_header(block, "Nats-Pin-Id"):
                self._request["id"] = pin
        elif (status := message.status)[0] != 100:
            pending = find_header(block, "Nats-Pending-Messages")
            self._ends.append((status, int(pending) if pending.isdigit() else -1))
        self._wake.set()

    def watch(self, event: ConnectionEvent) -> bool:
        """Record that requests will not be answered: the server refused them, or the connection was lost.
        Return whether the event is handled."""
        if isinstance(event, Disconnected):
            self._error = Unreachable(f"lost the connection to {self._api.connection.url}")
        elif isinstance(event, PermissionDenied):
            self._error = Denied(event.text, "ask for that permission")
        self._wake.set()
        return isinstance(event, PermissionDenied)

    async def run(self, count: int) -> AsyncIterator[list[Message]]:
        loop = asyncio.get_running_loop()
        last = loop.time()
        while self.received < count:
            idle = int((loop.time() - last) * SECOND)
            if idle >= self._wait and not self._open:
                return
            most = max(1, self.received // _CAREFUL_SHARE) if self._careful else BATCH
            batch = min(self._batch, most)
            if self._open <= batch // 2 and (asked := min(batch, count - self.received) - self._open) > 0:
                await self._ask(asked, max(self._wait - idle, _MIN_EXPIRES))
            messages = await self._receive_messages(idle)
            if messages:
                self.received += len(messages)
                self._open -= len(messages)
                yield messages
                last = loop.time()  # the time for which they are used does not count as silence
            elif self._error:
                raise self._error
            for status, pending in self._ends:
                self._open = 0 if pending < 0 else max(0, self._open - pending)
                if not self._adapt(status[1]):
                    await _raise_for_status(self._api, self._stream, self._consumer, status)
            self._ends.clear()

    async def _ask(self, number: int, expires: int) -> None:
        subject = f"{self._api.prefix}.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        body = json.dumps({**self._request, "batch": number, "expires": min(expires, self._longest)})
        self._api.show(f">>> {subject}", body)
        self._open += number
        await self._api.connection.send(encode_publish(subject, body.encode(), self.inbox))

    async def _receive_messages(self, idle: int) -> list[Message]:
        """Return the messages received so far, after waiting for the first."""
        if not self._messages and not self._ends and self._error is None:
            self._wake.clear()
            try:
                async with asyncio.timeout(max(self._wait - idle + _MARGIN, 0) / SECOND):
                    await self._wake.wait()
            except TimeoutError:
                self._open = 0
        messages, self._messages = self._messages, []
        return messages

    def _adapt(self, description: str) -> bool:
        """Apply a limit of the consumer to further requests; return whether it is a new one."""
        match = re.search(r"Exceeded (MaxRequestBatch|MaxRequestExpires) of (\S+)", description)
        if not match:
            return False
        kind, limit = match.groups()
        if kind == "MaxRequestBatch" and self._batch > int(limit):
            self._batch = int(limit)
        elif kind == "MaxRequestExpires" and self._longest > parse_duration(limit):
            self._longest = parse_duration(limit)
        else:
            return False
        return True


class Acks:
    """Acknowledgements: sent without waiting, confirmed by the server, counted.

    `async with Acks(connection) as acks`: call `send`, then `settle` to wait for confirmations.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._inbox = connection.new_inbox()
        self._receiver = connection.receive(self._inbox, self._handle)
        self._wake = asyncio.Event()
        self.sent = 0
        self.confirmed = 0
        self.unanswered = 0  #: for which nobody listened

    async def __aenter__(self) -> "Acks":
        await self._receiver.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._receiver.__aexit__(None, None, None)

    async def send(self, items: Sequence[Message], kind: bytes) -> None:
        """Acknowledge the messages that have a reply subject."""
        block = [encode_publish(item.reply, kind, self._inbox) for item in items if item.reply]
        self.sent += len(block)
        await self._connection.send(b"".join(block))

    @property
    def open(self) -> int:
        """Number of acknowledgements that the server has not answered yet."""
        return self.sent - self.confirmed - self.unanswered

    async def settle(self, limit: int, wait: int) -> None:
        """Wait until at most `limit` are open. Raises RequestTimeout after `wait` ns without a
        confirmation."""
        while self.open > limit:
            self._wake.clear()
            try:
                async with asyncio.timeout(wait / SECOND):
                    await self._wake.wait()
            except TimeoutError:
                raise RequestTimeout(
                    f"the server did not confirm {self.open:,} of {self.sent:,} acknowledgements",
                    "check that $JS.ACK is allowed and imported; unacknowledged messages are delivered again",
                ) from None

    def _handle(self, reply: Message) -> None:
        if reply.status[0] == 503:
            self.unanswered += 1
        else:
            self.confirmed += 1
        self._wake.set()


_HINTS = {
    PullEnd.QUEUE_FULL: "other clients' pulls fill its queue; jsctl consumer info shows how many wait",
    PullEnd.LIMIT_EXCEEDED: "use a lower --count or --timeout",
    PullEnd.LEADER_CHANGED: "its leader changed; try again",
    PullEnd.SHUTDOWN: "its server is shutting down; try again",
    PullEnd.BAD_GROUP: "name one of its priority groups: --group",
}


async def _raise_for_status(api: Api, stream: str, consumer: str, status: EndStatus) -> None:
    """Raise the error that a status stands for; some only end a request."""
    code, description = status
    name = f"{stream} > {consumer}"
    end = explain_end(code, description)
    if end is PullEnd.COMPLETE:
        return
    if end is PullEnd.NO_RESPONDERS:
        raise await _explain_silence(api, stream, consumer)
    if end is PullEnd.PUSH_BASED:
        raise JsctlError(
            f"consumer {name} is push-based: nothing can be pulled from it",
            f"{build_line('consumer sub', stream, consumer)} listens to it",
        )
    if end is PullEnd.DELETED:
        raise NotFound(f"consumer {name} was removed meanwhile")
    raise JsctlError(
        f"consumer {name}: the server answers {description or 'without a reason'} ({code})",
        _HINTS.get(end, ""),
    )


async def _explain_silence(api: Api, stream: str, consumer: str) -> JsctlError:
    """Return the reason why nobody answers NEXT. It needs more permissions than the pull itself, so it is the
    last resort."""
    try:
        await consumers.fetch_info(api, stream, consumer, timeout=SECOND)
    except (Unreachable, Denied):
        return NoResponders(
            f"nobody answers for consumer {stream} > {consumer} on {api.prefix}",
            "check that it exists, its leaf node is connected and NEXT is imported",
        )
    except JsctlError as error:
        return error
    return Unreachable(f"consumer {stream} > {consumer} has no leader now", "try again")
