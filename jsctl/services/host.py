"""A service of the micro protocol (ADR-32) that answers each request with the request itself."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

from jsctl import __version__
from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput
from jsctl.jetstream.message.buffer import EventBuffer
from jsctl.jetstream.message.respond import Request
from jsctl.nats.connection import Connection
from jsctl.nats.headers import Headers, encode_headers
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage
from jsctl.nats.templates import generate_id
from jsctl.services.discovery import PREFIX, build_verb_subject

_QUEUE = "q"
_ENDPOINT = "echo"


class Responder:
    """A service with one endpoint that can be discovered, as an asynchronous context manager: while it is
    open, `handle` is called with each request.

    subject: the subject of the endpoint. statistics: returns what STATS shows of the endpoint.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        subject: str,
        handle: MessageHandler,
        *,
        endpoint: str = "default",
        description: str = "",
        statistics: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self.id = generate_id()
        self._name, self._subject = name, subject
        self._connection = connection
        self._handle = handle
        self._endpoint, self._description = endpoint, description
        self._build_statistics = statistics
        self._started = time.time_ns()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "Responder":
        enter, receive = self._stack.enter_async_context, self._connection.receive
        try:
            for verb in ("PING", "INFO", "STATS"):
                for subject in (
                    build_verb_subject(verb),
                    build_verb_subject(verb, self._name),
                    build_verb_subject(verb, self._name, self.id),
                ):
                    await enter(receive(subject, self._describe))
            await enter(receive(self._subject, self._handle, queue=_QUEUE))
            await self._connection.settle()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._stack.__aexit__(*details)  # type: ignore[arg-type]

    def _describe(self, request: Message) -> None:
        verb = request.subject.removeprefix(f"{PREFIX}.").split(".")[0]
        if request.reply:
            data = json.dumps(self._build_document(verb)).encode()
            self._connection.post(OutgoingMessage(request.reply, data).encode())

    def _build_document(self, verb: str) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": f"io.nats.micro.v1.{verb.lower()}_response",
            "name": self._name,
            "id": self.id,
            "version": __version__.partition("+")[0],
            "metadata": {"_nats.client.created.library": "jsctl"},
        }
        endpoint: dict[str, Any] = {"name": self._endpoint, "subject": self._subject, "queue_group": _QUEUE}
        if verb == "INFO":
            document["description"] = self._description
            document["endpoints"] = [{**endpoint, "metadata": {}}]
        elif verb == "STATS":
            document["started"] = format_rfc3339(self._started)
            document["endpoints"] = [{**endpoint, **self._build_statistics()}]
        return document


class EchoService:
    """One run of a service: iterate over `answer_requests`; `stop` ends it properly."""

    def __init__(self, connection: Connection, name: str, headers: Headers) -> None:
        """Set up the service. Raises BadInput for a name that a service cannot have."""
        if not name or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
            raise BadInput(f"{name!r} is not a valid service name", "use letters, digits, - and _")
        self.name = name
        self.subject = f"{name}.{_ENDPOINT}"
        self._connection = connection
        self._headers = headers
        self._buffer: EventBuffer[Message] = EventBuffer()
        self._requests = self._errors = self._processing = self._payload = 0
        self._responder = Responder(
            connection,
            name,
            self.subject,
            self._answer,
            endpoint=_ENDPOINT,
            description="Answers each request with the request itself",
            statistics=self._build_statistics,
        )
        self.id = self._responder.id

    def stop(self) -> None:
        """Stop receiving, and end after the requests that have already been received."""
        self._buffer.close()

    async def answer_requests(self) -> AsyncGenerator[Sequence[Request], None]:
        """Answer each request, and yield it. Raises Denied, Unreachable."""
        with self._connection.watching(self._buffer.close_on):
            async with self._responder:
                async for batch in self._buffer.read_batches():
                    first = self._requests - len(batch)
                    yield [Request(message, first + at) for at, message in enumerate(batch)]
                await asyncio.shield(self._connection.flush())

    def _answer(self, request: Message) -> None:
        began = time.perf_counter_ns()
        self._requests += 1
        self._payload += len(request.data)
        answer = OutgoingMessage(request.reply, request.data, "", encode_headers(self._headers))
        if request.reply and answer.size <= self._connection.max_payload:
            self._connection.post(answer.encode())
        else:
            self._errors += 1
        self._processing += time.perf_counter_ns() - began
        self._buffer.add(request)

    def _build_statistics(self) -> dict[str, Any]:
        return {
            "num_requests": self._requests,
            "num_errors": self._errors,
            "last_error": "",
            "processing_time": self._processing,
            "average_processing_time": self._processing // max(self._requests, 1),
            "data": {"total_payload": self._payload},
        }
