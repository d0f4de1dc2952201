"""What a command without a fixed end returns: events, with a view for each.

`Result` is data that is complete; `Events` are written while they occur (`render.event_writer`). A verb
builds them from one asynchronous iterator and says how an event looks; it prints nothing itself.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from jsctl.errors import ExitStatus
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.views.board import Gauge, Live

E = TypeVar("E")
Ending = Literal["complete", "interrupted", "failed"]
Layout = Literal[
    "lines",  #: each record by itself, `terminator` after it
    "array",  #: one JSON array
    "single",  #: one JSON document: the record of the only event
]


class Presentation(NamedTuple, Generic[E]):
    """How an event is shown, in each form of output.

    record: the event as JSON; None leaves it out, a tuple is several records.
    text: the event for people, with its line ends; it is cleaned before a terminal sees it.
    run: the texts of several events, joined, if that is faster than to ask for each; as bytes if nothing of
        them is to be cleaned.
    title: a line above the first text.
    folds: which lines of the text jsctl composed, and a terminal folds: none, the first one, or all.
    snapshot: the event as a Result, written in place of `text` and in every form, CSV included: for what is
        shown whole repeatedly.
    raw: the event byte for byte, in place of `text` if stdout is not a terminal.
    notice: a line on stderr ahead of each event, except with --json; empty for none.
    heading: what the texts are called in CSV, one per line; empty if events have no table.
    as_json: write records whatever form was asked for.
    layout, terminator, indent: how records are laid out.
    awaits_reader: whether the next batch is asked for once the reader of a pipe has read this one, as what
        nobody reads is not acknowledged.
    """

    record: Callable[[E], object]
    text: Callable[[E], str] = lambda event: ""
    run: Callable[[Sequence[E]], bytes | str] | None = None
    title: str = ""
    folds: Literal["", "first", "all"] = ""
    snapshot: Callable[[E], Result] | None = None
    raw: Callable[[E], bytes] | None = None
    notice: Callable[[E], str] | None = None
    heading: str = ""
    as_json: bool = False
    layout: Layout = "lines"
    terminator: str = "\n"
    indent: int | None = None
    awaits_reader: bool = False


class End(NamedTuple, Generic[E]):
    """When a stream of events ends, besides its own end.

    limit: the number of events (`--count`) after which it is ended; 0 for all.
    counts: how many an event counts for towards `limit`; one without it.
    idle: ns without an event after which it is ended; with fewer than `limit` events the exit status is then
        3. 0 for no end.
    endless: whether ctrl-C is the ordinary end. Before `limit` events it is still status 130.
    stop: makes the events end after what has already occurred. Without it they are closed where they wait.
    noun: what an event is called in the singular.
    """

    limit: int = 0
    counts: Callable[[E], int] | None = None
    idle: int = 0
    endless: bool = False
    stop: Callable[[], None] | None = None
    noun: str = "message"


class Meter(NamedTuple, Generic[E]):
    """Counts of events, in place of the events.

    add: takes each batch. gauge: shown on a live screen, else a line every second; None for no output.
    """

    add: Callable[[Sequence[E]], None]
    gauge: "Gauge | None" = None


class Events(NamedTuple, Generic[E]):
    """A stream of events, how each is shown, and when they end.

    batches: the events, in lists as they occur: one at a time would cost more than the rest of the work.
        A batch is written before the next is asked for; the iterator is closed however it ends.
    live: a screen with keys, which asks by itself: shown in place of the events if there is a terminal
        for it.
    answers: whether requests are answered meanwhile: a slow reader of our output then misses some
        of the events instead of holding the answers up.
    stalled: called with the seconds of a write that the reader of our output held up.
    summary: a last line on stderr; empty for none.
    result: what is shown after the last event, or the exit status alone.
    """

    batches: AsyncIterator[Sequence[E]]
    shown: Presentation[E]
    end: End[E] = End()
    live: "Live | None" = None
    meter: Meter[E] | None = None
    answers: bool = False
    stalled: Callable[[float], None] | None = None
    summary: Callable[[Ending], str] = lambda ending: ""
    result: Callable[[], Result | ExitStatus | None] = lambda: None

    @property
    def has_background_work(self) -> bool:
        """Whether other work continues while events are written."""
        gauge = self.meter.gauge if self.meter else None
        work = self.end.endless, self.end.idle, self.answers, self.live is not None, gauge is not None
        return any(work)

    def end_after(self, idle: int) -> "Events[E]":
        """Return the same events, ended after `idle` ns without one; 0 for no such end."""
        return self._replace(end=self.end._replace(idle=idle))


async def once(event: E) -> AsyncIterator[Sequence[E]]:
    """Return one event, for a text that is written once, in the forms that events have."""
    yield [event]


@asynccontextmanager
async def close_after(events: AsyncIterator[E]) -> AsyncIterator[AsyncIterator[E]]:
    """Close the iterator at the end of the block, if it has `aclose`, in which generators clean up."""
    try:
        yield events
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def one_by_one(events: AsyncIterator[E]) -> AsyncGenerator[Sequence[E], None]:
    """Yield each event of an iterator in a batch of its own, and close the iterator at the end."""
    async with close_after(events):
        async for event in events:
            yield [event]


def results(
    pieces: AsyncIterator[Result], last: Callable[[], Result | ExitStatus | None] = lambda: None
) -> Events[Result]:
    """Return results that are written below each other, each as soon as it is there: for a verb that shows
    something and then continues.

    last: see `Events.result`.
    """
    return Events(
        batches=one_by_one(pieces),
        shown=Presentation(record=lambda result: result.document(), snapshot=lambda result: result),
        end=End(noun="result"),
        result=last,
    )


def repeated(rounds: AsyncIterator[Result], live: "Live") -> Events[Result]:
    """Return results that replace each other, for `--watch` of a table; on a terminal, the screen `live`.

    Ctrl-C ends them with status 130.
    """
    return results(rounds)._replace(live=live, end=End(noun="round"))


def text_in_pieces(pieces: Iterable[str]) -> Events[str]:
    """Return a long text that is written piece by piece, so that it is never in memory as a whole."""

    async def batches() -> AsyncGenerator[Sequence[str], None]:
        for piece in pieces:
            yield [piece]

    return Events(batches(), Presentation(record=lambda piece: piece, text=lambda piece: piece))


def names(pages: AsyncIterator[Sequence[str]]) -> Events[str]:
    """Return names, one per line; in JSON one array.

    A long list is written a page at a time: it takes the memory of a page, and its first lines appear at
    once.
    """
    events = items(pages, str)
    return events._replace(shown=events.shown._replace(run=lambda batch: "\n".join([*batch, ""])))


def items(pages: AsyncIterator[Sequence[E]], name: Callable[[E], str]) -> Events[E]:
    """Return records, as `names` does; in JSON one array of them."""
    return Events(
        batches=pages,
        shown=Presentation(
            record=lambda item: item,
            text=lambda item: name(item) + "\n",
            heading="name",
            layout="array",
            indent=2,
        ),
        end=End(noun="name"),
    )
