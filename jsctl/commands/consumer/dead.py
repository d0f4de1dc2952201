"""`jsctl consumer dead`."""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from jsctl.base.files import open_output
from jsctl.base.units import DAY, format_bytes, format_duration, pluralize
from jsctl.commands.cli import DURATION, SIZE, argument, command, destructive, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.commands.picking.pick import open_consumer, validate_name, validate_stream_name
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.capture import ADVISORY_SIZE, CapturePlan, apply_capture, plan_capture
from jsctl.monitor.consumer.dead_letters import DeadLetter, DeadLetters, fetch_dead_letters
from jsctl.nats.message import Message
from jsctl.views.consumer import dead as view
from jsctl.views.events import Events, Presentation
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text, report

HELP = """\
Find messages that reached their maximum of deliveries, and those that clients terminated. The server's
state of the consumer tells which messages had their last delivery (nats-server 2.15, without a cluster); of
a work queue, all that the consumer has passed is found. When and why is known once --capture has declared a
stream of advisories: for this consumer, for all of a stream, or without names for all.
"""

_MAX_AGE, _MAX_BYTES = 30 * DAY, 64 << 20

_SAYING = ("table", "plain", "markdown")
"""Forms in which a table has a sentence below its rows that says what is not known."""

_Pair = tuple[DeadLetter, Message | None]


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. watch, max_age: ns."""

    stream: str
    consumer: str
    watch: int | None
    show: bool
    histogram: bool
    output: str
    capture: bool
    max_age: int | None
    max_bytes: int | None
    force: bool

    def __post_init__(self) -> None:
        chosen = {
            "--watch": self.watch is not None,
            "--show": self.show,
            "--histogram": self.histogram,
            "--output": self.output,
            "--capture": self.capture,
        }
        names = [name for name, is_given in chosen.items() if is_given]
        if len(names) > 1 and names != ["--watch", "--histogram"]:
            raise BadInput(f"{names[0]} and {names[1]} cannot be used together")
        if not self.capture and not (self.max_age is None and self.max_bytes is None):
            raise BadInput("--max-age and --max-bytes are for --capture")
        if (self.max_age is not None and self.max_age <= 0) or (
            self.max_bytes is not None and self.max_bytes <= 0
        ):
            raise BadInput(
                "--max-age and --max-bytes must be more than 0", "a stream of advisories needs limits"
            )
        check_interval(self.watch)


@command(
    "dead",
    help=HELP,
    columns=view.COLUMNS,
    examples=[
        "jsctl consumer dead ORDERS NEW",
        "jsctl consumer dead ORDERS NEW --json",
        "jsctl consumer dead ORDERS NEW --histogram --watch 5s",
        "jsctl consumer dead ORDERS NEW --output dead.jsonl",
        "jsctl consumer dead --capture --max-age 7d",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option(*WATCH[0], **WATCH[1])
@option("--show", is_flag=True, help="Show the messages with headers and payload")
@option("--histogram", is_flag=True, help="Count them by reason and subject")
@option(
    "--output",
    metavar="FILE",
    default="",
    help="Write the messages into this file, as JSON lines that publish --from-dump reads",
)
@option("--capture", is_flag=True, help="Declare a stream that stores the advisories on what is given up")
@option("--max-age", type=DURATION, metavar="DURATION", help="With --capture: how long it keeps them (30d)")
@option("--max-bytes", type=SIZE, metavar="SIZE", help="With --capture: its largest size (64MiB)")
@destructive("Declare the stream without asking", "Only show what --capture would declare")
async def dead(env: Env, options: Options) -> Report | Events[_Pair]:
    if options.capture:
        return await _capture(env, options)
    if env.dry_run:
        raise BadInput("--dry-run is for --capture", "without it, nothing is changed")
    api, stream, consumer = await open_consumer(env, options.stream, options.consumer)

    async def fetch() -> DeadLetters:
        letters = await fetch_dead_letters(api, stream, consumer)
        for doubt in letters.doubts:
            env.say(f"warning: {doubt}")
        has_table = env.form in _SAYING and not (env.is_selective or options.output or options.show)
        if not has_table and (missing := letters.explain_missing(stream, consumer)):
            env.say(missing)
        return letters

    async def fetch_view() -> Result:
        letters = await fetch()
        if options.histogram:
            return view.count_letters(stream, consumer, letters)
        return view.list_letters(stream, consumer, letters, env.clock())

    if options.output == "-":
        stored = [letter for letter in (await fetch()).letters if letter.is_stored]
        return Events(
            batches=_read_messages(api, stream, stored),
            shown=Presentation(
                text=lambda pair: "",
                record=lambda pair: view.record_letter(*pair, stream),
                as_json=True,
                layout="array" if env.wants_json else "lines",
            ),
        )
    if options.output:
        return await _write(env, api, stream, (await fetch()).letters, options.output)
    if options.show:
        return Events(
            batches=_read_messages(api, stream, (await fetch()).letters),
            shown=Presentation(
                text=lambda pair: view.show_letter(*pair),
                record=lambda pair: view.record_letter(*pair, stream),
                folds="first",
                layout="array",
            ),
        )
    return await fetch_or_watch(fetch_view, options.watch)


async def _read_messages(
    api: Api, stream: str, letters: Sequence[DeadLetter]
) -> AsyncGenerator[Sequence[_Pair], None]:
    by_sequence = {letter.sequence: letter for letter in letters}
    async for sequence, message in browse.fetch_each(api, stream, list(by_sequence)):
        yield [(by_sequence[sequence], message)]


async def _write(env: Env, api: Api, stream: str, letters: Sequence[DeadLetter], path: str) -> Result:
    """Write the messages that the stream still holds into a file."""
    count = 0
    with open_output(path) as file:
        async for batch in _read_messages(api, stream, letters):
            for letter, message in batch:
                if message is not None:
                    record = view.record_letter(letter, message, stream)
                    file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                    count += 1
    gone = len(letters) - count
    more = f"; {pluralize(gone, 'other')} {'is' if gone == 1 else 'are'} not in the stream any more" * bool(
        gone
    )
    sentence = f"{pluralize(count, 'dead letter')} written to {path}{more}"
    return report(sentence, {"path": path, "messages": count, "gone": gone})


async def _capture(env: Env, options: Options) -> Result:
    if options.stream:
        validate_stream_name(options.stream)
    if options.consumer:
        validate_name("consumer", options.consumer)
    api = await env.jetstream()
    if options.consumer:
        await consumers.fetch_info(api, options.stream, options.consumer)
    elif options.stream:
        await streams.fetch_info(api, options.stream)
    max_age, max_bytes = options.max_age or _MAX_AGE, options.max_bytes or _MAX_BYTES
    plan = await plan_capture(api, options.stream, options.consumer, max_age=max_age, max_bytes=max_bytes)
    if plan.config is None:
        sentence = f"The advisories are stored already, in Stream {', '.join(plan.existing)}"
        data = {"stream": plan.existing[0], "created": False, "subjects": plan.subjects}
        return Result([Text(sentence)], data)
    name = str(plan.config["name"])
    cost = _describe_cost(plan)
    action = f"{'create' if plan.is_new else 'extend'} Stream {name} on {' and '.join(plan.subjects)}, {cost}"
    facts = {
        "stream": name,
        "subjects": plan.config["subjects"],
        "max_age": plan.config["max_age"],
        "max_bytes": plan.config["max_bytes"],
        "message_bytes": ADVISORY_SIZE,
    }
    await env.confirm(Intent(action, facts), force=options.force)
    info = await apply_capture(api, plan.config, is_new=plan.is_new)
    verb = "created" if plan.is_new else "extended"
    sentence = f"Stream {name} was {verb}: {cost}. It stores what is given up from now on"
    data = {**facts, "created": plan.is_new, "messages": info["state"]["messages"]}
    return Result([Text(sentence)], data)


def _describe_cost(plan: CapturePlan) -> str:
    config = plan.config or {}
    replicas = int(config.get("num_replicas") or 1)
    age, size = int(config.get("max_age") or 0), int(config.get("max_bytes") or 0)
    kept = f"for {format_duration(age)}" if age else "for ever"
    limit = (
        f"at most {format_bytes(size)} of {config['storage']} storage" if size > 0 else "without a size limit"
    )
    copies = f" on each of {replicas} servers" if replicas > 1 else ""
    return f"about {ADVISORY_SIZE} bytes for each message that is given up, {kept}, {limit}{copies}"
