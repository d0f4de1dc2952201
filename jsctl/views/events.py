"""What a command gives back that has no fixed end: events, with a view for each.

`Result` is data that is complete; `Events` are written while they occur (`render.event_writer`). A verb
builds them from one asynchronous iterator and says how an event looks; it prints nothing itself.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from jsctl.errors import ExitStatus
from jsctl.views.result import Result

E = TypeVar("E")
Ending = Literal["complete", "interrupted", "failed"]
Layout = Literal[
    "lines",  #: each record by itself, `terminator` after it
    "array",  #: one JSON array
    "single",  #: one JSON document: the record of the only event
]


class Gauge(Protocol):
    """A picture of events that are counted instead of shown, redrawn every second."""

    def tick(self) -> None:
        """Record that a second has passed."""

    def picture(self) -> Result:
        """Return the picture for a terminal."""

    def line(self) -> str:
        """Return what the second adds where stdout is not a terminal; empty for nothing."""


def _no_summary(ending: Ending) -> str:
    return ""


def _no_result() -> Result | ExitStatus | None:
    return None


class Events(NamedTuple, Generic[E]):
    """A stream of events and how each is shown.

    batches: the events, in lists as they occur: one at a time would cost more than the rest of the work.
        A batch is written before the next is asked for; the iterator is closed in every way out.
    text: the event for people, with its line ends; it is cleaned before a terminal sees it.
    record: the event as JSON; None leaves it out, a tuple is several records.
    counts: which events count towards `limit`; all without it.
    raw: the event byte for byte, in place of `text` where stdout is not a terminal.
    notice: a line on stderr ahead of each event, whatever its form; empty for none.
    as_json: write records whatever form was asked for.
    heading: what the texts are called in CSV, one a line; empty where events have no table.
    terminator, indent: how records are laid out.
    sink: takes the batches in place of stdout.
    gauge: drawn every second, for events that a sink counts.
    limit: how many events are wanted (`--count`), 0 for all. After these the stream is ended.
    noun: what an event is called in the singular.
    endless: whether ctrl-C is the ordinary end. Before `limit` events it is still status 130.
    stop: makes `batches` end after what has already occurred. Without it they are closed where they wait.
    stalled: called with the seconds of a write that the reader of our output held up.
    summary: a last line on stderr; empty for none.
    result: what is shown after the last event, or the exit status alone.
    """

    batches: AsyncIterator[Sequence[E]]
    text: Callable[[E], str]
    record: Callable[[E], object]
    raw: Callable[[E], bytes] | None = None
    notice: Callable[[E], str] | None = None
    as_json: bool = False
    heading: str = ""
    layout: Layout = "lines"
    terminator: str = "\n"
    indent: int | None = None
    sink: Callable[[Sequence[E]], None] | None = None
    gauge: Gauge | None = None
    limit: int = 0
    counts: Callable[[E], bool] | None = None
    noun: str = "message"
    endless: bool = False
    stop: Callable[[], None] | None = None
    stalled: Callable[[float], None] | None = None
    summary: Callable[[Ending], str] = _no_summary
    result: Callable[[], Result | ExitStatus | None] = _no_result


async def once(event: E) -> AsyncIterator[Sequence[E]]:
    """Yield one event: for what is written once, in the forms that events have."""
    yield [event]


def names(pages: AsyncIterator[Sequence[str]]) -> Events[str]:
    """Names, one a line, as JSON one array. A long list is written a page at a time: its memory is that of
    a page, and the first lines come at once."""
    return items(pages, lambda name: name)


def items(pages: AsyncIterator[Sequence[E]], name: Callable[[E], str]) -> Events[E]:
    """As `names`, for records: as JSON the array holds them whole."""
    return Events(
        batches=pages,
        text=lambda item: name(item) + "\n",
        record=lambda item: item,
        layout="array",
        indent=2,
        noun="name",
        heading="name",
    )
