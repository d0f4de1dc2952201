"""Counters: one, a list, changes as they happen."""

from collections.abc import AsyncIterator, Callable, Sequence

from jsctl.base.units import format_time
from jsctl.jetstream.api import Json
from jsctl.jetstream.counter.counters import Counter
from jsctl.views.events import End, Events, Presentation
from jsctl.views.intent import Intent
from jsctl.views.result import Column, Field, InfoPage, Result, Section, Table, Text, recorder

_record_numbers = recorder(("subject", "stream", "value", "increment", "sequence", "time"))


def value(stream: str, subject: str, number: str) -> Result:
    """Show the number alone, for `counter get` and after an increment."""
    return Result([Text(number, whole=True)], data={"subject": subject, "stream": stream, "value": number})


def intent(stream: str, subject: str, amount: str, before: str, after: str | None) -> Intent:
    """Return the intent to change a counter. after: its new value, where it can be calculated."""
    new = f" to {after}" if after is not None else ""
    facts = {"stream": stream, "subject": subject, "amount": amount, "value": before, "new_value": after}
    return Intent(f"change counter {stream} > {subject} by {amount} from {before}{new}", facts)


def record(counter: Counter) -> Json:
    """Return the JSON object of a counter. Numbers are text, as many JSON readers would round large ones."""
    return {
        **_record_numbers(counter),
        "sources": {stream: dict(parts) for stream, parts in counter.sources.items()},
    }


def info_page(counter: Counter) -> Result:
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
    return Result([InfoPage(f"Counter {counter.subject}", sections)], data=record(counter))


_VALUE = Column("Value", "value", "number")
COLUMNS = (
    Column("Subject", "subject"),
    _VALUE,
    Column("Stream", "stream", hideable=1),
    Column("Updated", "time", "time", hideable=2),
)
_MAX_DIGITS = 40  #: digits that a table shows whole


def listing(counters: Sequence[Counter], pattern: str, *, with_rows: bool = False) -> Result:
    """Show the list of `counter list`. pattern: of subjects, empty for all. The document is a list of
    subjects, as in `nats`; with `with_rows`, of all that is known."""
    data = [record(counter) if with_rows else counter.subject for counter in counters]
    if not counters:
        text = "There are no counters; jsctl counter increment creates one in a stream with --allow-counter"
        return Result([Text(f"There is no counter that matches {pattern}" if pattern else text)], data=data)
    rows = [(entry.subject, entry.value, entry.stream, entry.time) for entry in counters]
    longest = max(len(entry.value) for entry in counters)
    # A terminal has no room for hundreds of digits: they are cut in the middle, as texts are.
    value = _VALUE if longest <= _MAX_DIGITS else _VALUE._replace(kind="text")
    columns = [value if column is _VALUE else column for column in COLUMNS]
    return Result([Table("Counters", columns, rows)], data=data)


def changes(
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
        shown=Presentation(text=text, record=record),
        end=End(limit=limit, endless=True, stop=stop, noun="change"),
    )
