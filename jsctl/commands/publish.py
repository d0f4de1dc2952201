"""`jsctl publish`."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing, suppress
from typing import NamedTuple

from jsctl.base.loops import enter_event_loop
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.message_flags import MessageFlags, message_flags
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.compose import ORIGINAL_PACE, Dump
from jsctl.jetstream.message.publisher import Mode, Published, Publisher
from jsctl.jetstream.message.retry_policy import RetryPolicy
from jsctl.jetstream.message.schedule import Schedule, describe_raised, format_ttl, is_scheduled, parse_ttl
from jsctl.jetstream.message.stdin import Stdin
from jsctl.nats.headers import Headers
from jsctl.views.events import Events
from jsctl.views.message import publish as view

_MAX_REPORTED = 20  #: up to this number of messages each has its line

HELP = """Subject, body and header values may hold templates that make each message different:

\b
  {{Count}}            the message's number
  {{TimeStamp}}        the time in RFC 3339
  {{Unix}} {{UnixNano}}  seconds, nanoseconds since 1970
  {{Time}}             the time of day
  {{ID}}               a unique text
  {{Random 10 100}}    letters, at least 10 and at most 100

Anything else in braces is sent as it is, with a warning.

Without BODY, stdin up to its end is the body; with --send-on newline each line of it is a message. In a loop
or a script whose stdin is not meant, add </dev/null or the body ''. A file on stdin that was read from
before, such as the list of a loop, is refused; with - or --force-stdin the rest of it is the body.

With --jetstream, messages are sent again until --timeout while their stream elects a leader. After a lost
connection, only those with a Nats-Msg-Id are sent again: -H 'Nats-Msg-Id: {{ID}}'.

Flags replace headers of the same name. The headers Nats-Schedule and Nats-Schedule-Target are enough
for a schedule.
"""


class Options(NamedTuple):
    """The flags. sleep, jitter, ttl: ns. dumped: the path of a dump."""

    subject: str
    reply: str
    sleep: int
    jitter: int
    message: MessageFlags
    jetstream: bool
    jetstream_old: bool
    atomic: bool
    quiet: bool
    ttl: int | None
    schedule: Schedule
    dumped: str
    paced: bool

    def check(self) -> None:
        """Raise BadInput for flags that cannot be used together."""
        if not self.subject and not self.dumped:
            raise BadInput("the subject is missing", "specify SUBJECT or --from-dump PATH")
        if self.dumped and (self.message.body is not None or self.message.force_stdin):
            raise BadInput("a dump has its own payloads", "leave the body out")
        if self.paced and not self.dumped:
            raise BadInput("--original-pace is for --from-dump")
        if self.sleep < 0 or self.jitter < 0:
            raise BadInput("--sleep and --jitter must be 0 or more", "a pause cannot be negative")
        if self.paced and self.jitter:
            raise BadInput("--original-pace and --jitter cannot be used together")
        if self.mode != "plain" and self.reply:
            raise BadInput(
                "--reply and --jetstream cannot be used together", "the stream's ack needs the reply subject"
            )
        if self.atomic and not self.schedule.is_empty:
            raise BadInput("messages of an atomic batch cannot be scheduled")

    @property
    def mode(self) -> Mode:
        """How to publish."""
        if self.atomic:
            return "atomic"
        is_for_streams = self.ttl is not None or not self.schedule.is_empty or is_scheduled(self.header_texts)
        return "acked" if self.jetstream or self.jetstream_old or is_for_streams else "plain"

    @property
    def header_texts(self) -> dict[str, str]:
        """The headers that were given one by one: values, which may hold templates, by name."""
        parts = (text.partition(":") for text in self.message.headers)
        return {name.strip(): value.strip() for name, _, value in parts}

    @property
    def pause(self) -> int:
        """The time between two messages, in ns or as ORIGINAL_PACE."""
        return ORIGINAL_PACE if self.paced else self.sleep

    def build_headers(self, env: Env) -> Headers:
        """Return the headers that other flags than --header set."""
        may_lack_time = env.mirrors_nats  # PUBLISH_INVALID
        headers = self.schedule.build_headers(env.clock(), self.header_texts, may_lack_time=may_lack_time)
        return headers if self.ttl is None else [*headers, ("Nats-TTL", format_ttl(self.ttl))]

    @property
    def ttls(self) -> Sequence[int]:
        """The TTLs of the messages, and of those that a schedule publishes, in ns; 0 for none."""
        flags = {"Nats-TTL": self.ttl, "Nats-Schedule-TTL": self.schedule.message_ttl}
        texts = self.header_texts
        return [parse_ttl(texts.get(name, "")) if ttl is None else ttl for name, ttl in flags.items()]

    @property
    def reports(self) -> bool:
        """Whether each message gets a line."""
        return not self.quiet and self.total <= _MAX_REPORTED and not self.dumped and not self.atomic

    @property
    def total(self) -> int:
        """The number of messages to publish; 0 when it is not known yet."""
        return 0 if self.message.send_on == "newline" or self.dumped else max(self.message.copies, 1)


@command(
    "publish",
    help=HELP,
    examples=[
        "jsctl pub orders.new 'order 1'",
        "jsctl pub orders.new 'order {{Count}}' --count 1000 -J",
        "jsctl pub orders.new -H 'Nats-Msg-Id: 7' --jetstream hello",
        "jsctl pub --from-dump orders.jsonl --original-pace",
    ],
)
@argument("subject", required=False, default="", completes="subject")
@argument("body", required=False)
@option("--reply", metavar="SUBJECT", default="", help="Reply subject of the messages")
@message_flags("Publish N messages")
@option("--sleep", type=DURATION, default=0, metavar="DURATION", help="Wait this long between messages")
@option(
    "--jitter",
    type=DURATION,
    default=0,
    metavar="DURATION",
    help="Wait a random time up to this between messages, in addition to --sleep",
)
@option("--jetstream", "-J", is_flag=True, help="Publish to a stream and show its ack")
@option("--wait", "-w", "jetstream_old", is_flag=True, hidden=True, help="Old name of --jetstream")
@option("--atomic", is_flag=True, help="Store all messages or none of them; implies --jetstream")
@option("--quiet", "-q", is_flag=True, help="Show nothing but errors")
@option("--ttl", type=DURATION, metavar="DURATION", help="The stream removes the message after this time")
@option(
    "--schedule-after",
    "after",
    type=DURATION,
    metavar="DURATION",
    help="The stream publishes it this much later",
)
@option("--schedule-at", "at", metavar="TIME", help="The stream publishes it at an RFC 3339 time")
@option(
    "--schedule-every",
    "every",
    type=DURATION,
    metavar="DURATION",
    help="The stream publishes it repeatedly, at this interval",
)
@option("--schedule-cron", "cron", metavar="CRON", help="The stream publishes it by a cron expression")
@option("--schedule-dest", "dest", metavar="SUBJECT", help="Where a scheduled message is published")
@option(
    "--schedule-source",
    "source",
    metavar="SUBJECT",
    help="Publish the last message on this subject instead of the body",
)
@option(
    "--schedule-ttl",
    "message_ttl",
    type=DURATION,
    metavar="DURATION",
    help="TTL of the messages that a schedule publishes",
)
@option("--from-dump", "dumped", metavar="PATH", default="", help="Publish what sub --dump wrote; - is stdin")
@option("--original-pace", "paced", is_flag=True, help="With --from-dump: publish at the recorded pace")
async def publish(env: Env, options: Options) -> Events[Published]:
    options.check()
    stdin = env.streams.stdin
    source = Dump(options.dumped, stdin) if options.dumped else options.message.find_body(env)
    messages = options.message.compose(
        env,
        options.subject or None,
        source,
        headers=options.build_headers(env),
        reply=options.reply,
        pause=options.pause,
        jitter=options.jitter,
    )
    if options.mode != "plain" or options.total != 1 or isinstance(source, Stdin):
        await enter_event_loop()  # messages are reported, and acks arrive, while others are sent
    api = await env.jetstream()
    if isinstance(source, Stdin) and source.is_terminal and not options.quiet:
        env.say("Reading payload from STDIN")
    publisher = Publisher(
        api.connection,
        messages,
        options.mode,
        reports=options.reports,
        retry=RetryPolicy(api, env.say),
    )
    quiet = options.quiet or env.wants_json
    published = _publish_with_progress(env, api, publisher, options)
    return view.events(publisher, published, quiet=quiet)


async def _publish_with_progress(
    env: Env, api: Api, publisher: Publisher, options: Options
) -> AsyncGenerator[Sequence[Published], None]:
    """Yield what was published, below a progress bar where messages are not reported one by one."""
    total = 0 if options.quiet or options.reports else options.total
    with env.progress("Publishing", total) as advance:
        async with aclosing(publisher.read_batches(advance)) as batches:
            async for batch in batches:
                yield batch
    if options.quiet:
        return
    if options.mode == "plain":
        _warn_of_refusals(env, options.header_texts)
    elif any(options.ttls):
        await _warn_of_ttls(env, api, publisher, options.ttls)


def _warn_of_refusals(env: Env, names: Collection[str]) -> None:
    """Say on a terminal for which headers a stream may refuse a message without a word."""
    if not names:
        return
    from jsctl.jetstream.message.republishing import find_refusable

    if found := find_refusable(names):
        env.inform(f"warning: a stream may refuse {', '.join(found)}; with --jetstream it says so")


async def _warn_of_ttls(env: Env, api: Api, publisher: Publisher, ttls: Sequence[int]) -> None:
    """Warn of streams that keep messages for longer than their TTL. ttls: see `Options`."""
    from jsctl.jetstream.stream import requests as streams

    for name in publisher.totals.streams or [str((publisher.batch_ack or {}).get("stream"))]:
        with suppress(JsctlError):  # this login may not ask
            for said in describe_raised((await streams.fetch_info(api, name))["config"], *ttls):
                env.say(f"warning: {said}")
