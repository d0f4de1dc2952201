"""`jsctl subscribe`."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.commands.cli import OPTIONAL_DURATION, argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.commands.options.past_time import build_start_since
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.receive import Received, Receiver
from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource
from jsctl.views.events import Events, Meter, close_after
from jsctl.views.message import subscribe as view
from jsctl.views.message.decoded import Seen, decode_events

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition

HELP = """\
With --stream, --all, --new, --last, --since, --start-sequence, --last-per-subject, --durable or --direct the
messages come from a stream: the one that is named, or the one that takes the subject.

Lost connections and gaps are reported on stderr as they happen and counted at the end. Ctrl-C ends the
command with a summary and status 0, or 130 if --count was not reached.

--raw shows each payload on a line of its own; --raw-bytes writes it byte for byte, with nothing added.

--json writes a line of JSON for each message; --dump FILE.jsonl saves these lines, for pub --from-dump.
"""

_STARTS = ("start_sequence", "last", "all_", "new", "since", "last_per_subject")
"""The flags that say where in a stream to start. Of several, nats takes the first of these."""

_FLAGS = {"match": "--match-replies", "all_": "--all"}


def _format_flag(name: str) -> str:
    return _FLAGS.get(name, "--" + name.replace("_", "-"))


class Options(NamedTuple):
    """The flags. since, wait: ns."""

    subjects: tuple[str, ...]
    queue: str
    durable: str
    translate: str
    ack: bool | None
    match: bool
    inbox: bool
    limit: int
    dump: str
    stream: str
    start_sequence: int | None
    all_: bool
    new: bool
    last: bool
    since: int | None
    last_per_subject: bool
    to_end: bool
    direct: bool
    ignored: tuple[str, ...]
    wait: int
    report_subjects: bool
    report_subscriptions: bool
    report_top: int
    graph: bool
    show: view.Show
    condition: "Condition | None"
    decoding: Decoding

    def check(self) -> None:
        """Raise BadInput for flags that cannot be used together."""
        if self.durable and self.direct:
            raise BadInput("--durable and --direct cannot be used together")
        if self.show.timestamp and self.show.delta:
            raise BadInput("--timestamp and --delta-time cannot be used together")
        if self.show.is_raw and self.dump:
            flag = "--raw" if self.show.raw else "--raw-bytes"
            raise BadInput(f"{flag} and --dump cannot be used together")
        self._check_decoding()
        if not self.subjects and not self.inbox and not self.stream:
            raise BadInput("the subject is missing", "specify SUBJECT, --stream STREAM or --inbox")
        if self.to_end and not self.reads_stream:
            raise BadInput("--terminate-at-end is for streams", "add --stream STREAM or --all")
        for name in ("queue", "inbox", "match"):
            if getattr(self, name) and self.reads_stream:
                raise BadInput(f"{_format_flag(name)} is not for streams")
        if self.dump == "-" and self.inbox:
            raise BadInput("--inbox and --dump - cannot be used together", "dump to a file")
        if self.report_top < 1:
            raise BadInput("--report-top must be 1 or more")
        if self.limit < 0:
            raise BadInput("--count must be 0 or more")
        if self.start_sequence is not None and self.start_sequence < 1:
            raise BadInput("--start-sequence must be 1 or more", "sequences start at 1")

    def _check_decoding(self) -> None:
        if self.translate and (self.decoding.is_asked_for or self.condition is not None):
            raise BadInput("--translate cannot be used with --match and with flags that decode")
        if self.dump and self.decoding.is_asked_for:
            raise BadInput("--dump saves payloads as they are", "leave out the flags that decode")
        if self.condition is not None and (self.durable or self.ack):
            flag = "--durable" if self.durable else "--ack"
            raise BadInput(
                f"--match and {flag} cannot be used together",
                "messages that do not match would be acknowledged without being shown",
            )
        if self.condition is not None and self.match:
            raise BadInput("--match and --match-replies cannot be used together")

    @property
    def starts(self) -> list[str]:
        """Those of _STARTS that are given."""
        return [name for name in _STARTS if getattr(self, name) not in (None, False)]

    @property
    def reads_stream(self) -> bool:
        """Whether the messages come from a stream."""
        return bool(self.starts or self.stream or self.durable or self.direct)


@command(
    "subscribe",
    help=HELP,
    sections={
        "Most used": (
            *("--stream", "--all", "--last", "--new", "--since", "--count", "--raw", "--dump", "--queue"),
            "--durable",
        )
    },
    examples=[
        "jsctl sub 'orders.>'",
        "jsctl sub --stream ORDERS --all --terminate-at-end --dump orders.jsonl",
        "jsctl sub 'orders.>' --since 1h --raw",
        "jsctl sub '>' --report-subjects",
    ],
)
@argument("subjects", nargs=-1, completes="subject")
@option("--queue", metavar="GROUP", default="", help="Subscribe in a queue group")
@option("--durable", metavar="CONSUMER", default="", help="Read through a durable consumer")
@option("--raw", "-r", is_flag=True, help="Show only payloads, one per line")
@option("--raw-bytes", is_flag=True, help="Show payloads byte for byte, without line ends between them")
@option("--pretty", is_flag=True, help="Indent payloads that are JSON")
@option("--translate", metavar="COMMAND", default="", help="Show each payload as this command translates it")
@option("--ack/--no-ack", default=None, help="Acknowledge messages of JetStream consumers")
@option("--match-replies", "match", is_flag=True, help="Show requests with their replies")
@option("--inbox", "-i", is_flag=True, help="Subscribe to a new inbox")
@option("--count", "limit", type=int, metavar="N", default=0, help="End after N messages")
@option(
    "--dump",
    metavar="PATH",
    default="",
    help="Save messages in FILE.jsonl, or each in a file of a folder; - is stdout, separated by NUL",
)
@option("--headers-only", is_flag=True, help="Show no payloads")
@option("--subjects-only", is_flag=True, help="Show only subjects")
@option("--stream", "stream", metavar="STREAM", default="", help="Read from this stream")
@option("--start-sequence", type=int, metavar="SEQUENCE", help="Start at this sequence of the stream")
@option("--all", "all_", is_flag=True, help="All messages of the stream")
@option("--new", is_flag=True, help="Only messages that are stored from now on")
@option("--last", is_flag=True, help="Start at the stream's last message")
@option(
    "--since", type=OPTIONAL_DURATION, metavar="DURATION", help="Only messages that are not older than this"
)
@option("--last-per-subject", is_flag=True, help="The last message of each subject, then new ones")
@option("--terminate-at-end", "-T", "to_end", is_flag=True, help="End with the stream's last message")
@option("--direct", is_flag=True, help="Read with direct gets, without a consumer")
@option(
    "--ignore-subject", "-I", "ignored", metavar="SUBJECT", multiple=True, help="Leave these subjects out"
)
@wait_flag
@option("--report-subjects", is_flag=True, help="Count messages by subject instead of showing them")
@option("--report-subscriptions", is_flag=True, help="Count messages by subscription instead")
@option("--report-top", type=int, default=10, metavar="N", help="Show N rows in these reports (10)")
@option("--timestamp", "-t", is_flag=True, help="Show times")
@option("--delta-time", "-d", "delta", is_flag=True, help="Show the time since the start")
@option("--graph", is_flag=True, help="Draw messages per second")
@match_flag
@decoding_flags
async def subscribe(env: Env, options: Options) -> Events[Any]:
    options.check()
    if len(options.starts) > 1 and not env.mirrors_nats:  # EXCLUSIVE_FLAGS
        first, second, *_ = map(_format_flag, options.starts)
        raise BadInput(f"{first} and {second} cannot be used together")
    reader = options.decoding.build_reader(env, options.condition)
    connection = await env.connection()
    quiet = options.show.is_raw or bool(options.dump) or env.wants_json
    receiver = Receiver(
        connection,
        _build_receive_options(env, options, inbox=connection.new_inbox()),
        api=await env.jetstream() if options.reads_stream else None,
        warn=env.say,
        announce=(lambda text: None) if quiet and not options.inbox else env.say,
    )
    batches = receiver.read_batches()
    if options.translate:
        from jsctl.jetstream.message.translate import split_command, translate_messages

        batches = translate_messages(batches, split_command(options.translate))
    idle = 0 if options.wait else choose_idle_limit(env, 0, options.limit)
    events = _choose_output(env, options, receiver, view.events(receiver, batches, options.show))
    events = events._replace(end=events.end._replace(limit=options.limit))  # of those that match
    events = decode_events(events.end_after(idle), reader, view.LENS)
    if options.dump not in ("", "-"):
        return events._replace(batches=_dump_batches(env, events.batches, options))
    return events


def _choose_output(
    env: Env, options: Options, receiver: Receiver, events: Events[Received]
) -> Events[Received]:
    """Return the events with what is written of them, or in their place."""
    if options.graph:
        from jsctl.views.message.tally import RateGraph

        plots = env.is_terminal or env.wants_json
        graph = RateGraph(() if options.reads_stream else receiver.options.subjects, plots=plots)
        return events._replace(meter=Meter(graph.add, graph), result=graph.result)
    if options.report_subjects or options.report_subscriptions:
        from jsctl.views.message.tally import SubjectReport

        report = SubjectReport(options.report_top, by_subscription=options.report_subscriptions)
        return events._replace(meter=Meter(report.add, report), result=report.result)
    if options.dump == "-":
        records = events.shown._replace(as_json=True, record=view.dumped_record, terminator="\0")
        return events._replace(shown=records)
    return events._replace(meter=Meter(lambda batch: None)) if options.dump else events


async def _dump_batches(
    env: Env, batches: AsyncIterator[Sequence[Any]], options: Options
) -> AsyncGenerator[Sequence[Any], None]:
    """Yield the messages, or what a reader made of them, and write them to a file or folder."""
    from jsctl.jetstream.message.dump_writer import DumpWriter

    async with close_after(batches):
        with env.progress("Receiving", options.limit) as advance, DumpWriter(options.dump) as writer:
            async for batch in batches:
                writer.write([item.event if isinstance(item, Seen) else item for item in batch])
                advance(len(batch))
                yield batch


def _build_receive_options(env: Env, options: Options, inbox: str) -> ReceiveOptions:
    stream = None
    if options.reads_stream:
        stream = StreamSource(
            name=options.stream,
            start=_build_start(env, options),
            durable=options.durable,
            direct=options.direct,
            to_end=options.to_end,
            headers_only=options.show.headers_only or options.show.subjects_only,
        )
    return ReceiveOptions(
        subjects=options.subjects or ([inbox] if options.inbox else []),
        queue=options.queue,
        stream=stream,
        limit=0 if options.condition else options.limit,
        idle=options.wait,
        ignored=[part for text in options.ignored for part in text.replace(",", " ").split()],
        match_replies=options.match,
        ack=options.ack,
    )


def _build_start(env: Env, options: Options) -> Json:
    """Return the delivery policy; by default that of all messages."""
    match options.starts[0] if options.starts else "":
        case "start_sequence":
            return {"deliver_policy": "by_start_sequence", "opt_start_seq": options.start_sequence}
        case "since":
            return build_start_since(env, options.since or 0)
        case "last" | "last_per_subject" as policy:
            return {"deliver_policy": policy}
        case "new":
            return {"deliver_policy": "new"}
        case _:
            return {"deliver_policy": "all"}
