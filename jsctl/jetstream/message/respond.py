"""Answering requests: with a text, with the request itself, or with the output of a command."""

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import NamedTuple

from jsctl.base.units import SECOND
from jsctl.errors import BadInput, Unreachable
from jsctl.jetstream.message.buffer import EventBuffer
from jsctl.jetstream.message.user_command import run_command
from jsctl.nats.connection import Connection
from jsctl.nats.headers import Headers, encode_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.message_template import render_headers
from jsctl.nats.templates import Moment, Template


@dataclass(frozen=True, slots=True)
class Answers:
    """The way to answer requests: with `echo` the request's data, else the output of `command` (its words),
    else `body`. Data of a request is filled into these templates; templates in that data are not expanded.

    sleep: maximum of a random time before an answer, in ns.
    """

    body: Template
    headers: Sequence[tuple[str, Template]] = ()
    echo: bool = False
    command: Sequence[Template] = ()
    sleep: int = 0


class Request(NamedTuple):
    """A request. number: counts from 0."""

    message: Message
    number: int


class Responder:
    """A responder to the requests on a subject, a member of a queue group.

    weight: number of shares of the group's requests. limit: number of requests to answer, 0 for all.
    announce: called with a sentence when it listens. warn: called with a sentence about each request that
    cannot be answered properly.
    """

    def __init__(
        self,
        connection: Connection,
        answers: Answers,
        subject: str,
        queue: str,
        *,
        weight: int = 1,
        limit: int = 0,
        announce: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._answers = answers
        self._subject = subject
        self._queue = queue
        self._weight = weight
        self.limit = limit
        self._announce = announce
        self._warn = warn
        self._buffer: EventBuffer[Message] = EventBuffer()
        self.answered = 0  #: number of requests that were handled

    def stop(self) -> None:
        """End after the requests that have already been received."""
        self._buffer.close()

    async def answer_requests(self) -> AsyncGenerator[Sequence[Request], None]:
        """Yield each request; it is answered when the next one is requested.

        Raises Denied for a refused subscription, Unreachable when the connection is closed for good.
        """
        connection = self._connection
        with connection.watching(self._buffer.close_on):
            async with AsyncExitStack() as stack:
                for _ in range(self._weight):
                    handled = connection.receive(self._subject, self._buffer.add, queue=self._queue)
                    await stack.enter_async_context(handled)
                await connection.settle()
                self._announce(f'Listening on "{self._subject}" in group "{self._queue}"')
                async for batch in self._buffer.read_batches():
                    for message in batch:
                        yield [Request(message, self.answered)]
                        await self._answer(message)
                        self.answered += 1
                        if self.answered == self.limit:
                            await connection.flush()
                            return
                await connection.flush()

    async def _answer(self, request: Message) -> None:
        """Answer a request; an error becomes the answer, so that the next request is served."""
        answers = self._answers
        if answers.sleep:
            await asyncio.sleep(random.random() * answers.sleep / SECOND)
        try:
            data, headers = await self._compose(request)
            answer = OutgoingMessage(request.reply, data, "", encode_headers(headers))
            self._connection.check_size(answer)
        except BadInput as error:
            self._warn(f"jsctl: request {self.answered + 1} is answered with an error: {error.message}")
            answer = OutgoingMessage(
                request.reply, b"", "", encode_headers(_build_error_headers(error.message))
            )
            if answer.size > self._connection.max_payload:
                answer = OutgoingMessage(request.reply, b"")
        if not request.reply:
            self._warn("jsctl: that was not a request: it has no reply subject")
            return
        try:
            await self._connection.send(answer.encode())
        except Unreachable as error:
            self._warn(f"jsctl: not answered: {error.message}")

    async def _compose(self, request: Message) -> tuple[bytes, Headers]:
        """Return data and headers of an answer."""
        answers = self._answers
        moment = Moment(self.answered, request.data, tuple(request.subject.split(".")))
        headers = render_headers(answers.headers, moment)
        if answers.echo:
            return request.data, [*headers, *request.headers, ("NATS-Reply-Counter", str(self.answered))]
        if not answers.command:
            return answers.body.render(moment), headers
        data, failure = await _run(answers.command, request, moment, self._connection.max_payload)
        if failure:
            self._warn(f"jsctl: {failure}")
            headers += _build_error_headers(failure)
        return data, headers


def _build_error_headers(reason: str) -> Headers:
    """Return the headers of an answer that is an error (ADR-32)."""
    line = " ".join(reason.split())
    return [("Nats-Service-Error", line), ("Nats-Service-Error-Code", "500")]


async def _run(
    command: Sequence[Template], request: Message, moment: Moment, largest: int
) -> tuple[bytes, str]:
    """Run a command; return what it writes to stdout, and why it failed, empty for success. largest: maximum
    number of bytes of output.

    Templates are filled in after the command was split into words: a request cannot add words.
    """
    moment = moment._replace(request=request.data.replace(b"\0", b""))
    words = [word.render(moment).decode(errors="surrogateescape") for word in command]
    variables = {
        **os.environ,
        "NATS_REQUEST_SUBJECT": request.subject,
        "NATS_REQUEST_BODY": moment.request.decode(errors="surrogateescape"),
    }
    output = await run_command(words, largest, variables=variables)
    return output.data, output.failure
