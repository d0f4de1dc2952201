"""`jsctl events`."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.shared.output import Output
from jsctl.env import Env
from jsctl.errors import BadInput, Unreachable
from jsctl.jetstream.message import feed, payload
from jsctl.monitor import events as domain
from jsctl.nats.events import Closed, ConnectionEvent, PermissionDenied
from jsctl.nats.message import Message
from jsctl.nats.subjects import validate_subject
from jsctl.signals import interrupts
from jsctl.units import SECOND, format_rfc3339
from jsctl.views.message import events as view

HELP = """\
These are JetStream advisories and metrics, and connections, disconnections and refused logins, which only
users of the system account get. --js-advisory or --js-metric alone leave the other out. With --js-domain only
JetStream events of that domain are shown. --json writes each event as the server sent it, one a line.

Acknowledgement samples come from consumers that are made with --sample. Ctrl-C ends it, with status 0.
"""


@command(
    "events",
    help=HELP,
    examples=[
        "jsctl events",
        "jsctl events --js-metric --no-srv-advisory --short",
        "jsctl events --subjects '$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>' --json",
    ],
)
@option("--all", "-a", "all_", is_flag=True, help="Show all events (that is so without other flags)")
@option("--cloudevent", is_flag=True, help="Write CloudEvents 1.0, one a line")
@option("--short", is_flag=True, help="One line an event")
@option("--filter", "pattern", metavar="REGEX", default=".", help="Only events whose JSON matches")
@option("--js-metric", is_flag=True, help="Show JetStream metrics")
@option("--js-advisory", is_flag=True, help="Show JetStream advisories")
@option("--srv-advisory/--no-srv-advisory", "servers", default=True, help="Show server advisories (yes)")
@option("--subjects", metavar="SUBJECT", multiple=True, help="Show events on these subjects alone")
@option("--stream", metavar="STREAM", default="", help="Read events from a stream")
@option("--since", type=DURATION, metavar="DURATION", help="With --stream: from so long ago on")
@option("--count", type=int, default=0, metavar="N", help="End after so many events")
async def events(env: Env, **given: Any) -> None:
    try:
        pattern = re.compile(given["pattern"], re.IGNORECASE)
    except re.error as error:
        raise BadInput(f"{given['pattern']!r} is no regular expression: {error}") from None
    chosen = given["all_"] or given["js_metric"] or given["js_advisory"] or given["subjects"]
    if given["stream"] and chosen:
        raise BadInput("--stream has its own events", "leave the other choices out")
    if given["since"] is not None and not given["stream"]:
        raise BadInput("--since is for --stream")
    await Watch(env, given, pattern).run()


class Watch:
    """Shows events until its count is reached or ctrl-C."""

    def __init__(self, env: Env, given: dict[str, Any], pattern: re.Pattern[str]) -> None:
        self._env = env
        self._given = given
        self._pattern = pattern
        self._lines = env.wants_json or given["cloudevent"]
        self._ended = asyncio.Event()
        self._failure: BaseException | None = None
        self._output = Output(env, self._fail)
        self._number = 0
        self._domain = ""
        self._listening = self._refused = 0  #: subscriptions, and those that the server refused

    async def run(self) -> None:
        connection = await self._env.connection()
        self._domain = connection.settings.js_domain
        with connection.watching(self._watch), interrupts(self._ended.set):
            async with AsyncExitStack() as stack:
                if self._given["stream"]:
                    reading = await self._reading(self._given["stream"])
                    work = asyncio.ensure_future(reading.run())
                    work.add_done_callback(self._read_ended)
                    stack.push_async_callback(reading.stop, work)
                else:
                    subjects = self._subjects(connection.settings.js_event_prefix)
                    self._listening = len(subjects)
                    for subject in subjects:
                        self._tell(f"Listening for events on {subject}")
                        await stack.enter_async_context(connection.receive(subject, self._handle))
                    await connection.flush()
                await self._ended.wait()
        self._output.flush()
        if self._failure:
            raise self._failure

    def _subjects(self, prefix: str) -> Sequence[str]:
        given = self._given
        extra = [validate_subject(subject, "subscribe to") for subject in given["subjects"]]
        if extra and not (given["all_"] or given["js_metric"] or given["js_advisory"]):
            return extra
        both = given["all_"] or not (given["js_metric"] or given["js_advisory"])
        found = domain.jetstream_subjects(
            prefix, advisories=both or given["js_advisory"], metrics=both or given["js_metric"]
        )
        return [*found, *(domain.SYSTEM if given["servers"] or given["all_"] else ()), *extra]

    async def _reading(self, stream: str) -> feed.Feed:
        start: dict[str, Any] = {"deliver_policy": "all"}
        if self._given["since"] is not None:
            began = round(self._env.clock() * SECOND) - self._given["since"]
            start = {"deliver_policy": "by_start_time", "opt_start_time": format_rfc3339(began)}
        api = await self._env.jetstream()
        self._tell(f"Listening for events in stream {stream}")
        options = feed.Options(stream, (), start)

        def sink(item: Message) -> bool:
            self._show(item.subject, item.data)
            return True

        return feed.ConsumerFeed(api, options, sink, self._env.say)

    def _handle(self, message: Message) -> None:
        self._show(message.subject, message.data)

    def _show(self, subject: str, data: bytes) -> None:
        if self._ended.is_set() or not self._pattern.search(data.decode(errors="replace")):
            return
        event = domain.parse(data)
        if event is None:
            if not self._lines:
                self._output.text(view.unreadable(subject, payload.shown(data)))
            return
        if domain.domain_differs(event, self._domain):
            return
        if self._given["cloudevent"]:
            wrapped = domain.cloud_event(event, domain.kind(event, subject))
            self._output.json(json.dumps(wrapped, ensure_ascii=False) + "\n")
        elif self._lines:
            self._output.json(json.dumps(event, ensure_ascii=False) + "\n")
        else:
            self._output.text((view.short if self._given["short"] else view.extended)(event, subject))
        self._number += 1
        if self._given["count"] and self._number >= self._given["count"]:
            self._ended.set()

    def _watch(self, event: ConnectionEvent) -> bool:
        if isinstance(event, Closed):
            self._fail(Unreachable("the connection was closed for good"))
        elif isinstance(event, PermissionDenied) and event.operation == "subscription":
            self._refused += 1
            if self._refused >= self._listening:
                self._fail(event.error())
                return True
        return False

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._ended.set()

    def _read_ended(self, work: "asyncio.Future[None]") -> None:
        if not work.cancelled() and (error := work.exception()):
            self._fail(error)
        self._ended.set()

    def _tell(self, text: str) -> None:
        if not self._lines:
            self._env.say(text)
