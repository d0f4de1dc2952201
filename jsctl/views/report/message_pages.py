"""The pages of the live report for messages: the newest of a stream, one of them, dead letters. Pure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import compute_age, format_count, format_time_us, parse_time, pluralize, to_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.find.expression import compile_expression
from jsctl.monitor.consumer.dead_letters import DeadLetter, DeadLetters
from jsctl.monitor.report.messages import MessageList, MessagePage
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches
from jsctl.views.board import Board, Grid, Link
from jsctl.views.consumer import dead
from jsctl.views.message.decoded import add_decoded
from jsctl.views.message.text import body
from jsctl.views.report import grid_cells as keys
from jsctl.views.result import Column, Part, Result, Table, Text
from jsctl.views.stream import messages

if TYPE_CHECKING:
    from jsctl.schema.payloads.reader import Decoded

_SHOWN = 300  #: characters of a payload in a list


class Item(NamedTuple):
    """A message and what was decoded. now: ns since 1970."""

    message: Message
    decoded: "Decoded | None"
    now: int

    @property
    def payload(self) -> bytes:
        """The payload, decoded where that was possible."""
        decoded = self.decoded
        return self.message.data if decoded is None or decoded.reason else decoded.data


def _shorten(item: Item) -> str:
    return " ".join(body(item.payload[:_SHOWN]).split())


def _join_headers(item: Item) -> str:
    return ", ".join(f"{name}: {value}" for name, value in item.message.headers)


def _compute_age(item: Item) -> int:
    return compute_age(item.message.timestamp, item.now)


_COLUMNS = (
    Column("Sequence", "sequence", "count", read=lambda item: item.message.sequence),
    Column(
        "Age",
        "age",
        "ago",
        read=_compute_age,
        quiet=True,
        hideable=1,
    ),
    Column("Subject", "subject", read=lambda item: item.message.subject),
    Column("Size", "size", "bytes", hideable=2, read=lambda item: len(item.message.data)),
    Column("Data", "data", "prose", read=_shorten),
    Column("Headers", "headers", "prose", read=_join_headers, optional=True, hideable=3),
)
_HEADERS = (Column("Header", "header"), Column("Value", "value"))
_READERS = (Column("Consumer", "consumer"), Column("This Message", "state", "prose"))


def show_messages(
    page: keys.MessagesPage, found: MessageList, items: Sequence[Item], place: Sequence[str], board: Board
) -> Board:
    """Return the board of a page of messages, the newest first. place: the flags of command lines."""
    stored = format_count(int(found.info["state"]["messages"]))
    links = {"F": _link_search(page)}
    if found.first:
        earlier = keys.MessagesPage(
            page.place, page.stream, found.first, page.match, (*page.later, page.before)
        )
        links["["] = Link("earlier", "show earlier messages", earlier, replaces=True)
    if page.later:
        later = keys.MessagesPage(page.place, page.stream, page.later[-1], page.match, page.later[:-1])
        links["]"] = Link("later", "show later messages", later, replaces=True)
    notices = list(board.notices)
    if page.match:
        rest = f", back to {format_count(found.first)}; [ searches earlier ones" if found.first else ""
        notices.append(Text(f"{pluralize(found.read, 'message')} searched{rest}: {page.match}", "dim"))
    ends = f" before {format_count(page.before)}" if page.before else ""
    return board._replace(
        heading=f"messages of {page.stream}{ends}, {stored} stored",
        notices=notices,
        page=_build_grid(page, items, place, "no message matches" if page.match else "there are no messages"),
        links=links,
        page_key=page,
    )


def _link_search(page: keys.MessagesPage) -> Link:
    def answer(text: str) -> keys.MessagesPage:
        compile_expression(text)
        return keys.MessagesPage(page.place, page.stream, match=text)

    help = "search the messages: an expression as of --match, such as amount > 100"
    return Link("find", help, replaces=True, ask="find messages for which this holds", answer=answer)


def _build_grid(
    page: keys.MessagesPage | keys.DeadPage, items: Sequence[Item], place: Sequence[str], empty: str
) -> Grid:
    return Grid(
        _COLUMNS,
        items,
        key=lambda item: item.message.sequence,
        record=_record,
        line=lambda item: build_line("stream get", page.stream, str(item.message.sequence), place=place),
        page=lambda item: keys.MessagePage(page.place, page.stream, item.message.sequence),
        noun="messages",
        empty=empty,
    )


def show_message(
    page: keys.MessagePage, found: MessagePage, item: Item, place: Sequence[str], board: Board
) -> Board:
    """Return the board of one message: its headers and payload, what is before and after it, and which
    consumers have had it."""
    message, sequence = item.message, format_count(item.message.sequence)
    parts: list[Part] = [
        Text(f"Message {sequence} of {page.stream} on {message.subject}", "bold"),
        Text(f"stored {format_time_us(to_ns(message.timestamp))}, {pluralize(len(message.data), 'byte')}"),
    ]
    links, beside = {}, []
    for key, title, neighbor in (("[", "previous", found.previous), ("]", "next", found.next)):
        if neighbor is None:
            beside.append(f"no {title} message")
            continue
        there = keys.MessagePage(page.place, page.stream, neighbor.sequence)
        links[key] = Link(title, f"show the {title} message", there, replaces=True)
        beside.append(f"{title}: {format_count(neighbor.sequence)} on {neighbor.subject}")
    parts.append(Text(", ".join(beside), "dim"))
    if message.header_block:
        parts.append(Table("Headers", _HEADERS, [[name, value] for name, value in message.headers]))
    parts.append(Text(body(item.payload, pretty=True), whole=True))
    if item.decoded is not None and item.decoded.reason:
        parts.append(Text(f"not decoded: {item.decoded.reason}", "dim"))
    if found.consumers:
        rows = [[info.get("name"), describe_delivery(info, message)] for info in found.consumers]
        parts.append(Table(pluralize(len(rows), "Consumer"), _READERS, rows))
    return board._replace(
        heading=f"message {sequence} of {page.stream}",
        page=Result(parts, data=_record(item)),
        links=links,
        line=build_line("stream get", page.stream, str(message.sequence), place=place),
        page_key=page,
    )


def show_dead(
    page: keys.DeadPage,
    found: DeadLetters,
    items: Mapping[int, Item],
    place: Sequence[str],
    board: Board,
) -> Board:
    """Return the board of what a consumer gave up. items: the messages that the stream still holds."""
    columns = (
        Column("Sequence", "sequence", "count"),
        Column("Age", "age", "ago", read=lambda row: _find_age(row, items), quiet=True, hideable=1),
        Column("Subject", "subject"),
        Column("Deliveries", "deliveries", "count", hideable=2, read=lambda row: row.dead.deliveries or None),
        Column("Why", "why", "prose", read=lambda row: row.dead.detail or dead.REASONS[row.dead.reason]),
        Column(
            "Data",
            "data",
            "prose",
            read=lambda row: _shorten(items[row.sequence]) if row.sequence in items else "",
            optional=True,
            hideable=3,
        ),
    )

    def open_page(row: DeadLetter) -> keys.MessagePage | None:
        return keys.MessagePage(page.place, page.stream, row.sequence) if row.is_stored else None

    grid = Grid(
        columns,
        found.letters,
        key=lambda row: row.sequence,
        record=lambda row: dead.record_letter(row, _get_message(row, items), page.stream),
        line=lambda row: build_line("consumer dead", page.stream, page.consumer, place=place),
        page=open_page,
        noun="dead letters",
        empty="it has given up no messages" if not found.doubts else "it is not known what it has given up",
    )
    notices = [*board.notices, *(Text(doubt, "warn") for doubt in found.doubts)]
    name = f"{page.stream} > {page.consumer}"
    is_unknown = not found.letters and found.doubts
    heading = f"{'dead letters' if is_unknown else pluralize(len(found.letters), 'dead letter')} of {name}"
    return board._replace(heading=heading, notices=notices, page=grid, page_key=page)


def describe_delivery(info: Json, message: Message) -> str:
    """Say whether a consumer has had a message, as far as its info tells."""
    config, sequence = info.get("config") or {}, message.sequence
    filters = get_filters(config)
    if filters and not any(matches(one, message.subject) for one in filters):
        return "not on its subjects"
    floor = int((info.get("ack_floor") or {}).get("stream_seq", 0))
    delivered = int((info.get("delivered") or {}).get("stream_seq", 0))
    if sequence > delivered:
        return "not delivered yet"
    policy, start = config.get("deliver_policy", "all"), int(config.get("opt_start_seq") or 0)
    created = info.get("created")
    is_older = bool(created) and to_ns(message.timestamp) < to_ns(str(created))
    start_time = config.get("opt_start_time")
    if sequence < start or (start_time and parse_time(message.timestamp) < parse_time(str(start_time))):
        return "stored before its start"
    if policy == "new" and is_older:
        return "stored before the consumer was created"
    if policy.startswith("last") and is_older:
        return "passed: delivered, or older than the last when the consumer was created"
    if config.get("ack_policy") == "none":
        return "delivered; nothing is acknowledged"
    waiting = int(info.get("num_ack_pending", 0))
    if sequence <= floor or not waiting:
        return "delivered and acknowledged, or given up"
    if not filters and waiting == delivered - floor:
        return "delivered, not acknowledged"
    return f"delivered; {format_count(waiting)} of those after {format_count(floor)} are not acknowledged"


def _record(item: Item) -> object:
    return add_decoded(messages.record(item.message), item.decoded)


def _find_age(row: DeadLetter, items: Mapping[int, Item]) -> int | None:
    item = items.get(row.sequence)
    return compute_age(row.time, item.now) if item is not None and row.time else None


def _get_message(row: DeadLetter, items: Mapping[int, Item]) -> Message | None:
    item = items.get(row.sequence)
    return item.message if item is not None else None
