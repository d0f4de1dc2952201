"""One run of `subscribe`: from the first subscription to the summary."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from jsctl import units
from jsctl.commands.shared.received import Printer, Show
from jsctl.commands.shared.repeat import _CLEAR
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError, NotFound, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import feed
from jsctl.jetstream.message.direct_feed import DirectFeed
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.acks import ACK
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, PermissionDenied, Reconnected
from jsctl.nats.headers import header_value
from jsctl.nats.message import Message, MessageHandler
from jsctl.nats.subjects import matches, validate_subject
from jsctl.signals import interrupts
from jsctl.units import format_clock
from jsctl.views.message import messages as view
from jsctl.views.result import Result

_WORK_QUEUES = ("workqueue", "interest")


@dataclass(frozen=True, slots=True)
class Options:
    """What to subscribe to and how to show it. wait: seconds, 0 for no limit; limit: messages, 0 for none.
    report: "subject", "subscription" or nothing. start: a consumer's delivery policy."""

    subjects: Sequence[str]
    queue: str
    inbox: bool
    show: Show
    limit: int
    wait: float
    ignored: Sequence[str]
    match: bool
    ack: bool | None
    report: str
    top: int
    graph: bool
    jetstream: bool
    stream: str
    start: Json
    durable: str
    direct: bool
    to_end: bool


class Interrupted(JsctlError):
    """Ctrl-C before all messages came that were asked for."""

    status = ExitStatus.INTERRUPTED


class Session:
    """Messages are counted and shown until something ends it."""

    def __init__(self, env: Env, options: Options, connection: Connection) -> None:
        self._env = env
        self._options = options
        self._connection = connection
        self._ended = asyncio.Event()
        self._failure: BaseException | None = None
        self._interrupted = False
        self._printer = Printer(env, options.show, self._fail)
        self._quiet = options.show.raw or bool(options.show.dump) or env.wants_json
        self._number = 0
        self._bytes = 0
        self._last = time.monotonic()
        self._counts: dict[str, list[int]] = {}
        self._rates: dict[str, list[int]] = {}
        self._requests: dict[str, tuple[Message, int]] = {}
        self._feed: feed.Feed | None = None
        self._lost = self._again = self._slow = 0
        self._advance: Callable[[int], None] = lambda _: None

    async def run(self) -> Result | None:
        """The report where one was asked for. Raises what ended it too early."""
        options = self._options
        subjects = list(options.subjects) or ([self._connection.new_inbox()] if options.inbox else [])
        for subject in subjects:
            validate_subject(subject, "subscribe to")
        began = time.monotonic()
        kept = options.limit if options.show.dump not in ("", "-") else 0
        with interrupts(self._interrupt), self._env.progress("Receiving", kept) as self._advance:
            async with AsyncExitStack() as stack:
                stack.enter_context(self._connection.watching(self._watch))
                if options.jetstream:
                    self._feed = await self._stream_feed(subjects)
                    work = asyncio.ensure_future(self._feed.run())
                    work.add_done_callback(self._feed_ended)
                    stack.push_async_callback(self._feed.stop, work)
                else:
                    await self._subscribe(stack, subjects)
                await self._until_ended(subjects)
        await self._printer.close()
        if self._failure:
            self._summary(began, always=False)
            raise self._failure
        self._summary(began, always=self._interrupted)
        if self._interrupted and self._number < options.limit:
            raise Interrupted(f"ended after {self._number:,} of {options.limit:,} messages")
        return self._result()

    # -- where messages come from -------------------------------------------------------------------

    async def _subscribe(self, stack: AsyncExitStack, subjects: Sequence[str]) -> None:
        if self._options.match:
            replies = f"{self._connection.settings.inbox_prefix or '_INBOX'}.>"
            await stack.enter_async_context(self._connection.receive(replies, self._handle_reply))
            self._tell(f"Matching replies with inbox prefix {replies}")
        for subject in subjects:
            await stack.enter_async_context(
                self._connection.receive(subject, self._handler(subject), queue=self._options.queue)
            )
        await self._connection.flush()
        if not self._quiet or self._options.inbox:
            more = " with acknowledgement of JetStream messages" if self._options.ack else ""
            self._env.say(f"Subscribing on {', '.join(subjects)}{more}")

    async def _stream_feed(self, subjects: Sequence[str]) -> feed.Feed:
        options, api = self._options, await self._env.jetstream()
        name = options.stream or await _stream_of(api, subjects)
        config = (await streams.info(api, name))["config"] if not options.durable else {}
        direct = options.direct
        if config.get("retention") in _WORK_QUEUES and not direct:
            # A consumer of ours would take the messages away from those they are meant for.
            direct = True
            self._tell(f"Stream {name} is a work queue: reading it with direct gets")
        wanted = feed.Options(
            name, subjects, options.start, options.durable,
            options.show.headers_only or options.show.subjects_only,
            options.limit, options.to_end, options.ack,
        )  # fmt: skip
        self._tell(
            f"Subscribing to JetStream Stream {name}" + (f" on {', '.join(subjects)}" if subjects else "")
        )
        kind = DirectFeed if direct else feed.ConsumerFeed
        return kind(api, wanted, lambda item: self._count(item, item.subject), self._env.say)

    def _handler(self, subscription: str) -> MessageHandler:
        limit, acks = self._options.limit, self._options.ack

        def handle(message: Message) -> None:
            if limit and self._number >= limit:
                return
            if not message.data and message.status[0] == 100:
                self._flow_control(message)
                return
            self._count(message, subscription)
            if acks and message.metadata:
                self._connection.post(encode_publish(message.reply, ACK))
            if limit and self._number >= limit and not self._requests:
                self._ended.set()

        return handle

    def _flow_control(self, message: Message) -> None:
        """Somebody subscribed to what a push consumer delivers: its questions are not for people."""
        answer = message.reply or header_value(message.header_block, "Nats-Consumer-Stalled")
        if answer:
            self._connection.post(encode_publish(answer, b""))

    def _count(self, item: Message, subscription: str) -> bool:
        options = self._options
        if options.ignored and any(matches(one, item.subject) for one in options.ignored):
            return False
        self._number += 1
        self._bytes += len(item.data)
        self._advance(1)
        if options.wait:
            self._last = time.monotonic()
        if options.report or options.graph:
            key = item.subject if options.report == "subject" else subscription
            count = self._counts.setdefault(key, [0, 0])
            count[0] += 1
            count[1] += len(item.data)
        elif options.match and item.reply:
            self._requests[item.reply] = item, self._number
        else:
            self._printer.show(item, self._number)
        return True

    def _handle_reply(self, reply: Message) -> None:
        request = self._requests.pop(reply.subject, None)
        if request is None:
            return
        self._printer.show(*request, reply)
        if self._options.limit and self._number >= self._options.limit and not self._requests:
            self._ended.set()

    # -- how it ends --------------------------------------------------------------------------------

    async def _until_ended(self, subjects: Sequence[str]) -> None:
        options, every = self._options, 1.0
        self._last = time.monotonic()
        drawn = self._last
        while not self._ended.is_set():
            timeout = None
            if options.report or options.graph:
                timeout = max(drawn + every - time.monotonic(), 0)
            if options.wait:
                left = max(self._last + options.wait - time.monotonic(), 0)
                timeout = left if timeout is None else min(timeout, left)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._ended.wait()
            if options.wait and time.monotonic() - self._last >= options.wait:
                return
            if (options.report or options.graph) and time.monotonic() - drawn >= every:
                drawn = time.monotonic()
                self._draw(subjects)

    def _draw(self, subjects: Sequence[str]) -> None:
        """Once a second: the report or the graph, on a terminal."""
        live = self._env.is_terminal and not self._env.wants_json
        if self._options.graph:
            for key in subjects or self._counts:
                self._rates.setdefault(key, []).append(self._counts.pop(key, [0])[0])
            if not live:
                for key, values in self._rates.items():
                    self._env.streams.stdout.write(f"{format_clock(time.time_ns())}  {key}  {values[-1]}\n")
                self._env.streams.stdout.flush()
                return
        if live:
            self._env.streams.stdout.write(_CLEAR)
            if result := self._result():
                self._env.emit(result)
            self._env.streams.stdout.flush()

    def _result(self) -> Result | None:
        if self._options.graph:
            if not self._env.is_terminal and not self._env.wants_json:
                return None
            height = 20 // max(len(self._rates), 1)
            return view.rates(self._rates, self._env.width, max(height, 3))
        return view.subjects(self._counts, self._options.top) if self._options.report else None

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._ended.set()

    def _feed_ended(self, work: "asyncio.Future[None]") -> None:
        if not work.cancelled() and (error := work.exception()):
            self._fail(error)
        self._ended.set()

    def _interrupt(self) -> None:
        self._interrupted = True
        self._ended.set()

    def _watch(self, event: ConnectionEvent) -> bool:
        """An EventHandler: count and tell what happens to the connection."""
        if isinstance(event, Disconnected):
            self._lost += 1
            output = self._printer.output
            if time.monotonic() - output.stuck_until < 2:
                self._slow += 1
                self._env.say(
                    f"jsctl: slow consumer: our output was stuck for {output.stuck_for:.0f}s,"
                    " and the server gave us up"
                )
        elif isinstance(event, Reconnected):
            self._again += 1
            if self._feed is None:
                self._env.say("jsctl: messages published meanwhile are missed")
        elif isinstance(event, Closed):
            self._fail(Unreachable("the connection was closed for good"))
        elif isinstance(event, PermissionDenied) and event.operation == "subscription":
            self._fail(event.error())
            return True
        return False

    def _tell(self, text: str) -> None:
        if not self._quiet:
            self._env.say(text)

    def _summary(self, began: float, *, always: bool) -> None:
        troubles = self._feed.troubles if self._feed else 0
        counted = [(self._lost, "connection lost"), (self._again, "connected again"),
                   (self._slow, "slow consumer"), (troubles, "reading started again")]  # fmt: skip
        said = [f"{what} {times} time{'s' * (times > 1)}" for times, what in counted if times]
        if not (always or said):
            return
        spent = units.format_duration(round((time.monotonic() - began) * units.SECOND))
        messages = f"{self._number:,} message{'s' * (self._number != 1)}"
        text = f"Received {messages}, {units.format_bytes(self._bytes)} in {spent}"
        self._env.say("; ".join([text, *said]))


async def _stream_of(api: Api, subjects: Sequence[str]) -> str:
    """The one stream that takes the first subject. Raises NotFound, BadInput."""
    found = await streams.names(api, subjects[0])
    if not found:
        raise NotFound(f"no stream takes {subjects[0]}", "jsctl stream ls lists the streams")
    if len(found) > 1:
        raise BadInput(f"{subjects[0]} is in {', '.join(sorted(found))}", "name one with --stream")
    return found[0]
