"""The open page of `jsctl report --watch`: what is fetched for it in each round."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from jsctl.base.units import seconds_to_ns
from jsctl.commands.report.acting import Changes
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.find.expression import compile_expression
from jsctl.jetstream.message import browse
from jsctl.monitor.consumer.dead_letters import DeadLetters, fetch_dead_letters
from jsctl.monitor.report.messages import MessagePage as FetchedMessage
from jsctl.monitor.report.messages import MessageReader, fetch_message_page, is_full
from jsctl.monitor.report.pages import History, fetch_consumer_page, fetch_stream_page
from jsctl.monitor.report.places import Places
from jsctl.nats.message import Message
from jsctl.views.board import Board, Query
from jsctl.views.report import message_pages, pages
from jsctl.views.report.grid_cells import DeadPage, MessagePage, MessagesPage, Page
from jsctl.views.report.message_pages import Item
from jsctl.views.report.verbs import ChangePage
from jsctl.views.result import Result, Text

if TYPE_CHECKING:
    from jsctl.schema.payloads.reader import Decoded, Reader

_FEWEST = 10  #: messages that a page lists at least, however small the screen is
_MOST = 200
_DEAD = 100  #: dead letters whose payloads are fetched, at most


class OpenPages:
    """The open page, and what was fetched for it. clock: seconds since 1970. changes: None where nothing is
    changed."""

    def __init__(self, places: Places, clock: Callable[[], float], changes: Changes | None = None) -> None:
        self._places = places
        self._clock = clock
        self._changes = changes
        self._open: Hashable = None
        self._history = History()
        self._messages: MessageReader | None = None
        self._message: FetchedMessage | None = None
        self._dead: tuple[DeadLetters, dict[int, Message]] | None = None
        self._again = 0
        self._reader: Reader | None = None
        self._decoded: dict[tuple[int, str], Decoded | None] = {}

    async def fetch(self, query: Query, board: Board) -> Board:
        """Fetch the data of a page; the page says what could not be fetched."""
        page = query.page
        if page != self._open:
            earlier = self._get_earlier_samples(page) if isinstance(page, Page) else ()
            self._open, self._history = page, History(earlier)
            self._forget()
        if query.again != self._again:
            self._again = query.again
            self._forget()
        try:
            match page:
                case MessagesPage():
                    return await self._fetch_messages(page, query.rows, board)
                case MessagePage():
                    return await self._fetch_message(page, board)
                case DeadPage():
                    return await self._fetch_dead(page, board)
                case Page():
                    return board._replace(page=await self._fetch_object(page), page_key=page)
                case ChangePage() if self._changes is not None:
                    return await self._changes.fetch(page, board)
            raise TypeError(f"{page!r} is not a page of the report")
        except JsctlError as error:
            return board._replace(page=Result([Text(str(error), "bad")]), page_key=page)

    def close(self) -> None:
        """Forget what was fetched, so that a page that is opened again is fetched again."""
        self._open = None
        self._forget()

    def _forget(self) -> None:
        self._messages = self._message = self._dead = None
        if self._changes is not None:
            self._changes.forget()

    async def _fetch_object(self, page: Page) -> Result:
        if not page.stream:
            return pages.place_page(self._places.get_failure(page.place), self._places.list_flags(page.place))
        return await (self._fetch_consumer(page) if page.consumer else self._fetch_stream(page))

    async def _fetch_stream(self, page: Page) -> Result:
        data = await self._places.ask(page.place, partial(fetch_stream_page, stream=page.stream))
        created, last = data.info.get("created"), int(data.info["state"].get("last_seq", 0))
        self._history.add_counter(monotonic(), created, last)
        return pages.stream_page(data, self._history.values, self._places.list_flags(page.place))

    async def _fetch_consumer(self, page: Page) -> Result:
        request = partial(fetch_consumer_page, stream=page.stream, consumer=page.consumer)
        data = await self._places.ask(page.place, request)
        self._history.add(int(data.facts.consumer.get("num_pending", 0)))
        return pages.consumer_page(data, self._history.values, self._places.list_flags(page.place))

    async def _fetch_messages(self, page: MessagesPage, rows: int, board: Board) -> Board:
        if self._messages is None:
            takes = self._build_reader(page.match).read if page.match else None
            self._messages = MessageReader(page.stream, page.before, takes)
        request = partial(self._messages.fetch, count=min(max(rows, _FEWEST), _MOST))
        found = await self._places.ask(page.place, request)
        items = self._decode(found.messages)
        flags = self._places.list_flags(page.place)
        return message_pages.show_messages(page, found, items, flags, board)

    async def _fetch_message(self, page: MessagePage, board: Board) -> Board:
        request = partial(fetch_message_page, stream=page.stream, sequence=page.sequence, last=self._message)
        self._message = found = await self._places.ask(page.place, request)
        flags = self._places.list_flags(page.place)
        [item] = self._decode([found.message])
        return message_pages.show_message(page, found, item, flags, board)

    async def _fetch_dead(self, page: DeadPage, board: Board) -> Board:
        """Fetch the dead letters once, as that reads the state of all consumers; `r` reads it again."""
        if self._dead is None:
            self._dead = await self._places.ask(page.place, partial(_find_dead, page=page))
        letters, stored = self._dead
        items = dict(zip(stored, self._decode(stored.values()), strict=True))
        return message_pages.show_dead(page, letters, items, self._places.list_flags(page.place), board)

    def _decode(self, messages: Iterable[Message]) -> list[Item]:
        """Decode messages; those that were there in the round before are not decoded again."""
        if self._reader is None:
            self._reader = self._build_reader()
        known, self._decoded, items = self._decoded, {}, []
        for message in messages:
            key = message.sequence, message.timestamp
            self._decoded[key] = known[key] if key in known else self._reader.read(message)
            items.append(Item(message, self._decoded[key], seconds_to_ns(self._clock())))
        return items

    def _build_reader(self, match: str = "") -> "Reader":
        from jsctl.schema.payloads.decoder import PayloadDecoder  # only where messages are shown
        from jsctl.schema.payloads.reader import Reader

        return Reader(PayloadDecoder(("auto",)), condition=compile_expression(match) if match else None)

    def _get_earlier_samples(self, page: Page) -> Sequence[int]:
        """Return the report's earlier samples of the stream's rates or the consumer's lag."""
        if not page.stream:
            return ()
        tracker = self._places.trackers[page.place]
        if page.consumer:
            names = (page.stream, page.consumer)
            samples = (
                line.trend.values for line in tracker.consumers or () if (line.stream, line.consumer) == names
            )
        else:
            samples = (line.rates for line in tracker.streams or () if line.row.stream == page.stream)
        return next(samples, ())


async def _find_dead(api: Api, page: DeadPage) -> tuple[DeadLetters, dict[int, Message]]:
    letters = await fetch_dead_letters(api, page.stream, page.consumer)
    stored = [letter.sequence for letter in letters.letters if letter.is_stored][:_DEAD]
    found: dict[int, Message] = {}
    async with aclosing(browse.fetch_each(api, page.stream, stored)) as pairs:
        async for sequence, message in pairs:
            if message is not None:
                found[sequence] = message
            if is_full(found.values()):
                break
    return letters, found
