"""`jsctl counter` and its commands."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing

import click

from jsctl.base.units import format_time
from jsctl.commands.cli import argument, command, dry_run_flag, option
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.counter import counters
from jsctl.jetstream.counter.counters import Counter
from jsctl.nats.subjects import is_subject
from jsctl.views.events import End, Events, Presentation
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Field, InfoPage, Result, Section, Table, Text, list_names, recorder

_record_numbers = recorder(("subject", "stream", "value", "increment", "sequence", "time"))


def show_value(stream: str, subject: str, number: str) -> Result:
    """Show the number alone, for `counter get` and after an increment."""
    return Result([Text(number, whole=True)], data={"subject": subject, "stream": stream, "value": number})


def build_intent(stream: str, subject: str, amount: str, before: str, after: str | None) -> Intent:
    """Return the intent to change a counter. after: its new value, where it can be calculated."""
    new = f" to {after}" if after is not None else ""
    facts = {"stream": stream, "subject": subject, "amount": amount, "value": before, "new_value": after}
    return Intent(f"change counter {stream} > {subject} by {amount} from {before}{new}", facts)


def build_record(counter: Counter) -> Json:
    """Return the JSON object of a counter. Numbers are text, as many JSON readers would round large ones."""
    return {
        **_record_numbers(counter),
        "sources": {stream: dict(parts) for stream, parts in counter.sources.items()},
    }


def show_info(counter: Counter) -> Result:
    """Show a counter, for `counter view`."""
    fields = [
        Field("Value", counter.value),
        Field("Increment", counter.increment),
        Field("Subject", counter.subject),
        Field("Stream", counter.stream),
        Field("Sequence", counter.sequence, "count"),
        Field("Updated", counter.time, "time"),
    ]
    sources = [
        Field(stream, [f"{subject}: {part}" for subject, part in sorted(parts.items())])
        for stream, parts in sorted(counter.sources.items())
    ]
    own_part = counter.own_part
    if own_part is not None and own_part != "0":
        sources.append(Field("Counted Here", own_part))
    sections = [Section("", fields), *([Section("Sources", sources)] if sources else [])]
    return Result([InfoPage(f"Counter {counter.subject}", sections)], data=build_record(counter))


_VALUE = Column("Value", "value", "number")
COLUMNS = (
    Column("Subject", "subject"),
    _VALUE,
    Column("Stream", "stream", hideable=1),
    Column("Updated", "time", "time", hideable=2),
)
_MAX_DIGITS = 40  #: digits that a table shows whole


def show_list(counters: Sequence[Counter], pattern: str, *, with_rows: bool = False) -> Result:
    """Show the list of `counter list`. pattern: of subjects, empty for all. The document is a list of
    subjects, as in `nats`; with `with_rows`, of all that is known."""
    data = [build_record(counter) if with_rows else counter.subject for counter in counters]
    if not counters:
        text = "There are no counters; jsctl counter increment creates one in a stream with --allow-counter"
        return Result([Text(f"There is no counter that matches {pattern}" if pattern else text)], data=data)
    rows = [(entry.subject, entry.value, entry.stream, entry.time) for entry in counters]
    longest = max(len(entry.value) for entry in counters)
    # A terminal has no room for hundreds of digits: they are cut in the middle, as texts are.
    value = _VALUE if longest <= _MAX_DIGITS else _VALUE._replace(kind="text")
    columns = [value if column is _VALUE else column for column in COLUMNS]
    return Result([Table("Counters", columns, rows)], data=data)


def show_changes(
    batches: AsyncIterator[Sequence[Counter]], *, limit: int, stop: Callable[[], None]
) -> Events[Counter]:
    """Return the changes of `counter watch`."""

    def text(counter: Counter) -> str:
        sign = "" if counter.increment.startswith(("-", "+")) else "+"
        return (
            f"[{format_time(counter.time)}] {counter.subject}: {counter.value} ({sign}{counter.increment})\n"
        )

    return Events(
        batches=batches,
        shown=Presentation(text=text, record=build_record),
        end=End(limit=limit, endless=True, stop=stop, noun="change"),
    )


stream_flag = option(
    "--stream",
    metavar="STREAM",
    default="",
    noun="stream",
    help="The counter's stream, if several store the subject",
)


async def change(env: Env, subject: str, amount: str, stream: str) -> Result:
    """Add an amount to a counter, and show its new value."""
    api = await env.jetstream()
    if env.dry_run:
        name, before, after = await counters.estimate_addition(api, subject, amount, stream)
        env.announce(build_intent(name, subject, amount, before, after))
    number, name = await counters.add(api, subject, amount, stream)
    return show_value(name, subject, number)


@command(
    "list",
    columns=COLUMNS,
    examples=[
        "jsctl counter list",
        "jsctl counter list 'hits.*'",
        "jsctl counter list --stream ALL_HITS --names",
    ],
)
@argument("subject", default="", completes="counter")
@stream_flag
@option("--names", "-n", "names_only", is_flag=True, help="Only subjects, one per line")
@option("--rows", "with_rows", is_flag=True, help="With --json, write values and streams, too")
async def list_(env: Env, subject: str, stream: str, names_only: bool, with_rows: bool) -> Result:
    """Show the counters of all streams if neither SUBJECT nor --stream is given. SUBJECT may contain
    wildcards.
    """
    if subject and not is_subject(subject):
        raise BadInput(f"{subject!r} is not a valid subject")
    listed: list[Counter] = []
    broken: JsctlError | None = None
    async with aclosing(counters.read_all(await env.jetstream(), subject, stream)) as pages:
        async for page in pages:
            listed += [one for one in page if isinstance(one, Counter)]
            broken = broken or next((one for one in page if isinstance(one, JsctlError)), None)
    if broken and not listed:
        raise broken
    names = [counter.subject for counter in listed]
    result = list_names(names) if names_only else show_list(listed, subject, with_rows=with_rows)
    return result._replace(error=broken)


@command("get", examples=["jsctl counter get hits.home", "jsctl counter get hits.home --stream ALL_HITS"])
@argument("subject", noun="counter")
@stream_flag
async def get(env: Env, subject: str, stream: str) -> Result:
    counter = await counters.get(await env.jetstream(), subject, stream)
    return show_value(counter.stream, subject, counter.value)


@command("view", examples=["jsctl counter view hits.home", "jsctl counter view hits.home --stream ALL_HITS"])
@argument("subject", noun="counter")
@stream_flag
async def view(env: Env, subject: str, stream: str) -> Result:
    """Leave out what sources contribute if the stream has none."""
    return show_info(await counters.get(await env.jetstream(), subject, stream))


@command(
    "increment",
    takes_number=True,
    examples=[
        "jsctl counter increment hits.home",
        "jsctl counter increment hits.home -5",
    ],
)
@argument("subject", completes="counter")
@argument("value", default="1")
@stream_flag
@dry_run_flag("Only show what the value would be")
async def increment(env: Env, subject: str, value: str, stream: str) -> Result:
    """Show the new value. VALUE is a whole number of any size, by default 1."""
    return await change(env, subject, counters.parse_amount(value), stream)


@command(
    "decrement",
    takes_number=True,
    examples=[
        "jsctl counter decrement hits.home",
        "jsctl counter decrement stock.apples 12",
    ],
)
@argument("subject", completes="counter")
@argument("value", default="1")
@stream_flag
@dry_run_flag("Only show what the value would be")
async def decrement(env: Env, subject: str, value: str, stream: str) -> Result:
    """Show the new value. VALUE is a whole number of any size, by default 1."""
    return await change(env, subject, counters.negate(counters.parse_amount(value)), stream)


@command("watch", examples=["jsctl counter watch 'hits.*'", "jsctl counter watch hits.home --updates --json"])
@argument("subject", completes="counter")
@stream_flag
@option("--updates", is_flag=True, help="Show only what changes from now on")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N changes")
@wait_flag
async def watch(env: Env, subject: str, stream: str, updates: bool, count: int, wait: int) -> Events[Counter]:
    """Show the value of each counter, then each change, until ctrl-C. SUBJECT may contain wildcards."""
    if not is_subject(subject):
        raise BadInput(f"{subject!r} is not a valid subject")
    api = await env.jetstream()
    info = await counters.find_stream(api, subject, stream)
    receiver = counters.watch(api, info, subject, new=updates, limit=count)
    batches = receiver.read_decoded(counters.decode_counter)
    events = show_changes(batches, limit=count, stop=receiver.stop)
    return events.end_after(choose_idle_limit(env, wait, count))
