"""Messages of a stream as they are stored: through an ephemeral consumer, a durable one, or direct gets.

A feed passes each message to a sink until it reaches its limit or the stream's end, or is cancelled. It
recovers by itself: a lost consumer, a gap, a silent server or a new connection is reported and counted, and
reading continues after the last delivered message. A feed with a limit or an end gives up when nothing comes
for `BUDGET_SECONDS` although the connection lives.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, is_transient
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.pull_status import PullEnd, explain_end
from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.delivery_reader import DeliveryReader
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.events import ConnectionEvent, Reconnected
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message

Sink = Callable[[Sequence[Message]], int]
"""Called with messages; returns how many of them count towards the limit."""

BATCH = 2000
"""Number of messages requested at once; the next ones are requested when a quarter has arrived. With more at
once, 20 KiB each after small ones would exceed the 64 MiB that a server holds for a client."""

_EXPIRES = 30 * SECOND
_HEARTBEAT = 5 * SECOND
_INACTIVE_THRESHOLD = 300 * SECOND  #: how long the server keeps an ephemeral consumer that nobody pulls from
_SILENCE_BEATS = 2.5  #: heartbeats for whose time nothing may come until reading starts again
BUDGET_SECONDS = 20.0  #: seconds without a word from the stream after which a feed with an end gives up
_RETRY_SECONDS = 0.5
_LEAVE_SECONDS = 2.0  #: seconds for the server's answer to the removal of a consumer
_STOP_SECONDS = 0.8  #: seconds for telling the server that the feed stops; it notices by itself later


def answer_flow_control(connection: Connection, message: Message) -> None:
    """Answer a flow control request or heartbeat of a push consumer, if it wants that (ADR-9)."""
    if answer := message.reply or find_header(message.header_block, "Nats-Consumer-Stalled"):
        connection.post(encode_publish(answer, b""))


class Feed:
    """The base of all feeds. `troubles` counts the times that reading had to start again.

    options: with the stream; subjects, limit and ack are used as well.
    """

    def __init__(self, api: Api, options: ReceiveOptions, sink: Sink, say: Callable[[str], None]) -> None:
        self._api = api
        self._connection = api.connection
        self._options = options
        self._source = options.stream or StreamSource()
        self._sink = sink
        self._say = say
        self._remaining = options.limit  #: messages that may still be delivered, if there is a limit
        self._last = 0  #: sequence of the last delivered message
        self._wake = asyncio.Event()
        self._finished = False
        self._trouble = ""
        self._is_reported = False  #: whether a line about the present silence was written
        self._heard = asyncio.get_running_loop().time()  #: when something came from the stream
        self.troubles = 0
        self.acknowledges = False  #: whether messages are to be acknowledged once they were used

    async def run(self) -> None:
        """Read until the feed ends. Raises ApiError and Denied for the server's refusals."""
        raise NotImplementedError

    async def stop(self, work: "asyncio.Future[None]") -> None:
        """End `work`, the task of `run`, and wait a moment until the server knows."""
        self._end()
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError, JsctlError, TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await work

    def _hear(self) -> None:
        """Note that something came from the stream."""
        self._heard = asyncio.get_running_loop().time()
        self._is_reported = False

    def _say_once(self, text: str) -> None:
        """Write a line about a trouble, one for each silence."""
        if not self._is_reported:
            self._is_reported = True
            self._say(text)

    def _check_budget(self) -> None:
        """Raise RequestTimeout when a feed with an end has heard nothing for too long, while the connection
        lives: a lost one has limits of its own."""
        now = asyncio.get_running_loop().time()
        if not self._connection.is_connected:
            self._heard = now
        elif (self._source.to_end or self._options.limit) and now - self._heard > BUDGET_SECONDS:
            raise RequestTimeout(
                f"nothing came from stream {self._source.name} for {now - self._heard:.0f}s,"
                " although the connection lives",
                "jsctl doctor looks for the reason; what has arrived is complete up to there",
            )

    def _deliver(self, messages: Sequence[Message]) -> None:
        """Pass messages on, up to the limit."""
        if not self._options.limit:
            self._sink(messages)
        while self._options.limit and messages and not self._finished:
            part, messages = messages[: self._remaining], messages[self._remaining :]
            self._remaining -= self._sink(part)
            if self._remaining <= 0:
                self._end()

    def _end(self) -> None:
        self._finished = True
        self._wake.set()

    def _report_trouble(self, reason: str) -> None:
        self._trouble = self._trouble or reason
        self._wake.set()

    def _watch(self, event: ConnectionEvent) -> None:
        if isinstance(event, Reconnected):
            self._report_trouble("reading on a new connection")


class ConsumerFeed(Feed):
    """A feed that pulls from a consumer, always ahead, and never more than its limit."""

    def __init__(self, api: Api, options: ReceiveOptions, sink: Sink, say: Callable[[str], None]) -> None:
        super().__init__(api, options, sink, say)
        self._ephemeral = not self._source.durable
        self._created_durable = False
        self._may_exist = False  #: whether an ephemeral consumer may be on the server
        self._config: Json = {}
        self._start = self._source.start  #: start of an ephemeral consumer that is created again
        # One name however often it is created again: removing it leaves none on the server.
        self._name = consumers.generate_reader_name() if self._ephemeral else self._source.durable
        self._next = 1  #: consumer sequence that an ephemeral consumer sends next
        self._open = 0  #: messages that were requested and have not arrived
        self._inbox = ""
        self._request = 0
        self._batch = BATCH
        self._few = 0  #: as many of them, or fewer: then the next ones are requested
        self._expires = _EXPIRES
        self._refusal: JsctlError | None = None

    async def run(self) -> None:
        """Read until the feed ends. Raises ApiError for a missing stream or consumer, and the server's other
        refusals."""
        try:
            info = await self._begin()
            self._hear()
            if self._source.to_end and not info.get("num_pending") and not info.get("num_ack_pending"):
                return
            with self._connection.watching(self._watch):
                push = self._config.get("deliver_subject")
                await (self._listen(str(push)) if push else self._pull())
        finally:
            await self._leave()

    async def _begin(self) -> Json:
        """Create or find the consumer; return its info."""
        source, ack = self._source, self._options.ack
        if source.durable:
            try:
                info = await consumers.fetch_info(self._api, source.name, source.durable)
            except (Denied, NoResponders, RequestTimeout):
                # An import may offer only NEXT and ACK: assume the configuration that these need.
                info = {"config": {"ack_policy": "explicit"}, "num_pending": 1}
            except ApiError as error:
                if error.err_code != ErrorCode.CONSUMER_NOT_FOUND:
                    raise
                durable = {"durable_name": source.durable, "ack_policy": "explicit"}
                config = {**self._build_config(source.start), **durable}
                info, _ = await consumers.create(self._api, source.name, config)
                self._created_durable = True
                self._say(f"Created durable consumer {source.durable} on stream {source.name}")
        else:
            config = self._build_ephemeral_config(source.start)
            self._may_exist = True
            try:
                info, _ = await consumers.create(self._api, source.name, config, is_name_new=True)
            except (ApiError, Denied, NoResponders):
                self._may_exist = False
                raise
            self._start = _find_restart(source.start, info)
        self._config = info.get("config") or {}
        self._name = str(info.get("name") or self._name)
        self._batch = int(self._config.get("max_batch") or 0) or BATCH
        # A consumer of others may limit how many requests wait for it (`max_waiting`).
        self._few = self._batch * 3 // 4 if self._ephemeral else self._batch // 2
        self._expires = min(int(self._config.get("max_expires") or 0) or _EXPIRES, _EXPIRES)
        policy = self._config.get("ack_policy", "none")
        self.acknowledges = policy != "none" if ack is None else ack
        return info

    def _build_config(self, start: Json) -> Json:
        config: Json = {**start}
        if self._source.headers_only:
            config["headers_only"] = True
        subjects = list(self._options.subjects)
        if not subjects and start.get("deliver_policy") == "last_per_subject":
            subjects = [">"]  # the server requires a filter
        if len(subjects) == 1:
            config["filter_subject"] = subjects[0]
        elif subjects:
            config["filter_subjects"] = subjects
        return config

    def _build_ephemeral_config(self, start: Json) -> Json:
        return {
            **self._build_config(start),
            "name": self._name,
            "ack_policy": "none",
            "inactive_threshold": _INACTIVE_THRESHOLD,
            "mem_storage": True,
            "num_replicas": 1,
        }

    async def _leave(self) -> None:
        if self._may_exist and self._connection.is_connected:
            with contextlib.suppress(JsctlError, TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await consumers.delete(self._api, self._source.name, self._name)
        if self._created_durable:
            stream, durable = self._source.name, self._source.durable
            self._say(
                f"Consumer {stream} > {durable} stays; {build_line('consumer rm', stream, durable)} removes"
                " it"
            )

    async def _pull(self) -> None:
        """Pull until the feed ends; on a new subject for each new ephemeral consumer, as what the earlier one
        sent may still arrive."""
        while not self._finished:
            self._inbox = self._connection.new_inbox()
            async with self._receive(f"{self._inbox}.*"):
                await self._pull_until_trouble()
                while self._trouble and not self._ephemeral and not self._finished:
                    await self._recover()
                    await self._pull_until_trouble()
            if not self._finished:
                await self._recover()

    def _receive(self, subject: str, queue: str = "") -> contextlib.AbstractAsyncContextManager[None]:
        bulk = DeliveryReader(self._handle_run, to_end=self._source.to_end)
        return self._connection.receive(subject, self._handle, queue=queue, bulk=bulk)

    async def _pull_until_trouble(self) -> None:
        while not self._finished and not self._trouble:
            self._wake.clear()  # first, so that no event during the request is lost
            count = self._batch - self._open
            if self._options.limit:
                count = min(count, self._remaining - self._open)
            if self._open <= self._few and count > 0:
                await self._ask(count)
            if not self._finished and not self._trouble:
                # asyncio.timeout, here and elsewhere: wait_for can lose a cancellation (Python 3.11).
                try:
                    async with asyncio.timeout(_SILENCE_BEATS * _HEARTBEAT / SECOND):
                        await self._wake.wait()
                except TimeoutError:
                    self._report_trouble("the server sent no heartbeats")
            if self._refusal:
                raise self._refusal

    async def _listen(self, subject: str) -> None:
        """Wait until the feed of a push consumer ends, which delivers without requests."""
        queue = str(self._config.get("deliver_group") or "")
        async with self._receive(subject, queue):
            while not self._finished:
                self._wake.clear()
                await self._wake.wait()
                if self._trouble:
                    self.troubles += 1
                    self._trouble = ""

    async def _ask(self, number: int) -> None:
        self._request += 1
        self._open += number
        heartbeat = min(_HEARTBEAT, self._expires // 3)
        body = {"batch": number, "expires": self._expires, "idle_heartbeat": heartbeat}
        subject = f"{self._api.prefix}.CONSUMER.MSG.NEXT.{self._source.name}.{self._name}"
        reply = f"{self._inbox}.{self._request}"
        await self._connection.send(encode_publish(subject, json.dumps(body).encode(), reply))

    async def _recover(self) -> None:
        """Continue after the last message: create an ephemeral consumer again, or request again from a
        durable one."""
        self.troubles += 1
        start = _from_sequence(self._last + 1) if self._last else self._start
        continuation = "reading again"
        if self._last or (self._ephemeral and "opt_start_seq" in start):
            continuation = f"continuing after sequence {start['opt_start_seq'] - 1}"
        while not self._finished:
            self._check_budget()
            self._say_once(f"jsctl: {self._trouble}; {continuation}")
            try:
                await self._connection.wait_until_connected()
                if self._ephemeral:
                    await self._create_again(start)
                elif self._config.get("name"):
                    await consumers.fetch_info(self._api, self._source.name, self._source.durable)
                break
            except JsctlError as error:
                if not is_transient(error):
                    raise
                await asyncio.sleep(_RETRY_SECONDS)
        self._trouble, self._open = "", 0

    async def _create_again(self, start: Json) -> None:
        """Replace the ephemeral consumer. Raises what requests raise."""
        try:
            await consumers.delete(self._api, self._source.name, self._name)
        except Denied:  # the server removes the other one by itself
            self._name = consumers.generate_reader_name()
        except JsctlError:
            pass  # it is gone, or its only server is
        config = self._build_ephemeral_config(start)
        try:
            await consumers.create(self._api, self._source.name, config, is_name_new=True)
        except ApiError as error:
            if error.err_code not in (ErrorCode.CONSUMER_ALREADY_EXISTS, ErrorCode.CONSUMER_NAME_EXIST):
                raise
            raise Unreachable(f"the server has not removed consumer {self._name} yet") from None
        self._next = 1

    def _handle(self, message: Message) -> None:
        if message.metadata is None:
            self._handle_status(message)
        else:
            self._handle_run([message])

    def _handle_run(self, messages: Sequence[Message]) -> None:
        """Handle messages of one consumer that follow each other, a run of `DeliveryReader`."""
        self._hear()
        last = messages[-1].metadata
        if self._finished or last is None or last.consumer != self._name:
            return
        if self._ephemeral:
            if last.consumer_sequence != self._next + len(messages) - 1:
                self._report_trouble("messages were lost on the way")
                numbered = enumerate(messages, self._next)
                messages = [each for n, each in numbered if each.metadata and each.metadata[5] == n]
                if not messages:
                    return
            self._next += len(messages)
        self._last = messages[-1].sequence
        self._open -= len(messages)
        self._deliver(messages)
        if self._source.to_end and last.pending == 0 and messages[-1].metadata == last:
            self._end()
        elif self._open <= self._few:
            self._wake.set()

    def _handle_status(self, message: Message) -> None:
        """Handle statuses of a pull (ADR-37), flow control and heartbeats of a push consumer (ADR-9)."""
        self._hear()
        code, description = message.status
        if code == 100:
            self._wake.set()  # the server is not silent
            answer_flow_control(self._connection, message)
            return
        end = explain_end(code, description)
        if end in (PullEnd.COMPLETE, PullEnd.TOO_LARGE, PullEnd.OTHER_CONFLICT):
            self._open -= int(find_header(message.header_block, "Nats-Pending-Messages") or 0)
            self._wake.set()
        elif end is PullEnd.NO_RESPONDERS:
            self._report_trouble("the consumer was gone")
        elif end in (PullEnd.LEADER_CHANGED, PullEnd.DELETED, PullEnd.SHUTDOWN):
            self._report_trouble(f"the server reports {description}")
        elif code:
            self._refusal = JsctlError(
                f"consumer {self._source.name} > {self._name}: the server says {description or code}",
                f"{build_line('consumer info')} shows its limits, and how many others wait",
            )
            self._wake.set()


def _from_sequence(sequence: int) -> Json:
    return {"deliver_policy": "by_start_sequence", "opt_start_seq": sequence}


def _find_restart(start: Json, info: Json) -> Json:
    """Return where to start again before anything was received. info: the new consumer's.

    The policies `new` and `last` would then leave out messages that were stored meanwhile.
    """
    if start.get("deliver_policy") == "last_per_subject" and info.get("num_pending"):
        return start
    delivered = (info.get("delivered") or {}).get("stream_seq")
    return _from_sequence(delivered + 1) if isinstance(delivered, int) else start
