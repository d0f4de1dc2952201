"""`jsctl report`: several contexts and domains, their streams, replication and consumers."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from jsctl.errors import ExitStatus, JsctlError
from jsctl.jetstream import health
from jsctl.jetstream.health import Trouble
from jsctl.jetstream.overview import Overview, Rates, consumer_key, link, rates
from jsctl.jetstream.reports import NEVER, replication_rows, stream_rows
from jsctl.units import SECOND, format_bytes, format_duration, format_time, parse_time
from jsctl.views.panes import BAD, FINE, STYLES, WARN, Pane, Section
from jsctl.views.result import Cell, Column, Part, Result, Table, Text

Sort = Literal["name", "messages", "bytes", "rate", "lag", "trouble"]


class State(NamedTuple):
    """One context and domain, as its poller knows it.

    history: the last overviews, oldest first, each with its time in seconds on one clock. failure: why
    the last attempt failed. at: when it ended (seconds since the epoch), None before the first.
    waiting: seconds that an attempt has been open beyond what is usual, else 0.
    """

    context: str
    domain: str
    where: str
    prefix: str
    history: Sequence[tuple[float, Overview]]
    failure: JsctlError | None
    at: float | None
    waiting: float = 0.0

    @property
    def error(self) -> str:
        """What is wrong with the whole, empty when nothing is."""
        if self.failure is not None:
            return str(self.failure)
        if self.waiting:
            return f"no answer for {self.waiting:.0f}s"
        return "" if self.history else "no answer yet"

    @property
    def title(self) -> str:
        name = self.context or self.where
        if self.domain:
            return f"{name} · domain {self.domain}"
        return name if self.prefix == "$JS.API" else f"{name} · {self.prefix}"


class _Row(NamedTuple):
    """`data`: the JSON record, with what is wrong in words under `trouble`."""

    data: dict[str, Any]
    level: int


class _Rows(NamedTuple):
    streams: Sequence[_Row]
    replication: Sequence[_Row]
    consumers: Sequence[_Row] | None
    account: Sequence[Trouble]


_STREAMS = (
    Column("Stream", "stream"),
    Column("Storage", "storage"),
    Column("Consumers", "consumers", "count"),
    Column("Messages", "messages", "count"),
    Column("Bytes", "bytes", "bytes"),
    Column("Msgs/s", "message_rate", "rate"),
    Column("Growth", "byte_rate", "bytes"),
    Column("Lost", "lost", "count"),
    Column("Deleted", "deleted", "count"),
    Column("Replicas", "peers"),
    Column("Trouble", "trouble"),
)
_REPLICATION = (
    Column("Stream", "stream"),
    Column("Kind", "kind"),
    Column("API Prefix", "api_prefix"),
    Column("Source Stream", "origin"),
    Column("Filters", "filters"),
    Column("Active", "active", "ago"),
    Column("Lag", "lag", "count"),
    Column("Lag Trend", "lag_rate"),
    Column("Error", "error"),
    Column("Trouble", "trouble"),
)
_CONSUMERS = (
    Column("Stream", "stream"),
    Column("Consumer", "consumer"),
    Column("Mode", "mode"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Trend", "unprocessed_rate"),
    Column("Last Delivery", "last_delivery", "ago"),
    Column("Trouble", "trouble"),
)
_SPARE = {
    "streams": ("deleted", "storage", "consumers", "byte_rate", "lost", "bytes", "peers"),
    "links": ("filters", "api_prefix", "error", "kind", "lag_rate"),
    "consumers": ("mode", "last_delivery", "redelivered", "unprocessed_rate", "ack_pending"),
}
_OPTIONAL = frozenset({"filters", "trouble", "peers"})  #: columns that are left out when all empty
_WATCHED = frozenset({"message_rate", "byte_rate", "lag_rate", "unprocessed_rate"})


def document(states: Sequence[State], now: float) -> dict[str, Any]:
    """The JSON form: `{"at", "reports": [{"context", "domain", "at", "error", "trouble", "streams",
    "replication", "consumers"}]}`.

    Times are RFC 3339 in UTC; `error` is null when all is well, and the lists are empty when it is not;
    `consumers` is null when they were not asked for; rates are null without two answers.
    """
    reports = []
    for state in states:
        error = state.error or None
        rows = _Rows([], [], [], []) if error else _rows(state, "name")
        consumers = None if rows.consumers is None else [row.data for row in rows.consumers]
        reports.append(
            {
                "context": state.context,
                "domain": state.domain,
                "at": _utc(state.at),
                "error": error,
                "trouble": [trouble.words for trouble in rows.account],
                "streams": [row.data for row in rows.streams],
                "replication": [row.data for row in rows.replication],
                "consumers": consumers,
            }
        )
    return {"at": _utc(now), "reports": reports}


def result(states: Sequence[State], now: float, sort: Sort, *, timed: bool = False) -> Result:
    """The static form: every pane one below the other. timed: a line with the time first."""
    parts: list[Part] = []
    if timed:
        parts.append(Text(format_time(datetime.fromtimestamp(now, UTC)), "bold"))
    for state in states:
        one = pane(state, sort)
        # What is shown here is of now: tables of before a failure are for the live screen.
        parts.append(Text(f"{one.title}: {one.summary.text}", one.summary.style or "bold"))
        parts.extend(one.messages)
        if not state.error:
            parts.extend(section.table for section in one.sections)
    failed = [state.failure for state in states if state.failure is not None]
    status = ExitStatus.OK
    if failed:
        status = failed[0].status if len(states) == 1 else ExitStatus.UNREACHABLE
    return Result(parts, document(states, now), status)


def screen(states: Sequence[State], now: float, sort: Sort, every: str) -> tuple[Text, list[Pane]]:
    """The live form: a heading, and a pane for each context and domain."""
    time = format_time(datetime.fromtimestamp(now, UTC))
    return Text(f"{time} · every {every} · q ends it", "dim"), [pane(state, sort) for state in states]


def pane(state: State, sort: Sort) -> Pane:
    """One context and domain for people."""
    error = state.failure.message if state.failure is not None else state.error
    if not state.history:
        waiting = state.failure is None
        summary = Text("connecting" if waiting else "unreachable", "dim" if waiting else "bad")
        messages = [] if waiting and not state.waiting else [Text(error, "bad")]
        return Pane(state.title, summary, messages, [], trouble=FINE if waiting else BAD)
    rows = _rows(state, sort)
    watched = len(state.history) > 1
    everything = [*rows.streams, *rows.replication, *(rows.consumers or ())]
    messages = [Text(trouble.words, STYLES[BAD if trouble.bad else WARN]) for trouble in rows.account]
    sections = [
        section
        for section in (
            _section("Stream Report", _STREAMS, rows.streams, "streams", watched, _stream_cell),
            _section("Replication Report", _REPLICATION, rows.replication, "links", watched, _link_cell),
            _section(
                "Consumer Report", _CONSUMERS, rows.consumers or (), "consumers", watched, _consumer_cell
            ),
        )
        if section.table.rows
    ]
    if not rows.streams:
        messages.append(Text("No Streams defined"))
    bad = sum(row.level == BAD for row in everything) + sum(t.bad for t in rows.account)
    warned = sum(row.level == WARN for row in everything) + sum(not t.bad for t in rows.account)
    level = BAD if bad or error else WARN if warned else FINE
    if error:
        since = format_time(state.history[-1][1].snap.at)
        summary = Text(f"unreachable, as of {since}" if state.failure else f"late, as of {since}", "bad")
        messages.insert(0, Text(error, "bad"))
    elif bad or warned:
        words = [f"{bad:,} bad"] if bad else []
        words += [f"{warned:,} to watch"] if warned else []
        summary = Text(", ".join(words), STYLES[level])
    else:
        summary = Text("all well", "good")
    return Pane(state.title, summary, messages, sections, dim=bool(error), trouble=level)


def _rows(state: State, sort: Sort) -> _Rows:
    now = state.history[-1][1]
    changes = _changes(state.history)
    streams = _streams(now, changes)
    replication = _replication(state.history, changes)
    consumers = None if now.consumers is None else _consumers(state.history, changes)
    _order(streams, sort, {"messages": "messages", "bytes": "bytes", "rate": "message_rate"})
    _order(replication, sort, {"lag": "lag"})
    if consumers is not None:
        _order(consumers, sort, {"lag": "unprocessed"})
    return _Rows(streams, replication, consumers, health.of_account(now.account))


def _changes(history: Sequence[tuple[float, Overview]]) -> Rates:
    if len(history) < 2:
        return Rates({}, {}, {}, {})
    (then, before), (now, after) = history[-2:]
    return rates(before, after, now - then)


def _streams(now: Overview, changes: Rates) -> list[_Row]:
    infos = {info["config"]["name"]: info for info in now.snap.infos}
    rows = []
    for row in stream_rows(now.snap):
        info = infos.get(row.stream)
        found = health.of_stream(info, now.snap.at) if info else []
        if row.offline is not None:
            found.insert(0, Trouble(f"offline: {row.offline}", True))
        data = row._asdict()
        del data["context"], data["domain"]
        data["peers"] = list(row.peers)
        data["message_rate"] = changes.messages.get(row.stream)
        data["byte_rate"] = changes.bytes.get(row.stream)
        rows.append(_row(data, found))
    return rows


def _replication(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[_Row]:
    now = history[-1][1]
    created = {info["config"]["name"]: info.get("created") for info in now.snap.infos}
    lags: dict[Any, list[int]] = {}
    for _, overview in history:
        for row in replication_rows(overview.snap):
            lags.setdefault(link(row), []).append(row.lag)
    rows = []
    for row in replication_rows(now.snap):
        data = row._asdict()
        del data["context"], data["domain"]
        data["lag_rate"] = changes.lag.get(link(row))
        rows.append(_row(data, health.of_link(row, lags[link(row)], created[row.stream], now.snap.at)))
    return rows


def _consumers(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[_Row]:
    now = history[-1][1]
    pending: dict[Any, list[int]] = {}
    for _, overview in history:
        for info in overview.consumers or ():
            pending.setdefault(consumer_key(info), []).append(info["num_pending"])
    rows = []
    for info in now.consumers or ():
        config, key = info.get("config") or {}, consumer_key(info)
        data = {
            "stream": info["stream_name"],
            "consumer": info["name"],
            "mode": "push" if config.get("deliver_subject") else "pull",
            "ack_pending": info.get("num_ack_pending", 0),
            "redelivered": info.get("num_redelivered", 0),
            "unprocessed": info.get("num_pending", 0),
            "unprocessed_rate": changes.pending.get(key),
            "last_delivery": _since((info.get("delivered") or {}).get("last_active"), now.snap.at),
        }
        rows.append(_row(data, health.of_consumer(info, pending[key], now.snap.at)))
    return rows


def _row(data: dict[str, Any], found: Sequence[Trouble]) -> _Row:
    data["trouble"] = [trouble.words for trouble in found]
    return _Row(data, BAD if any(t.bad for t in found) else WARN if found else FINE)


def _order(rows: list[_Row], sort: Sort, keys: dict[str, str]) -> None:
    """By name; or the largest, or the worst, first."""
    names = ("stream", "kind", "origin", "consumer")
    rows.sort(key=lambda row: [str(row.data.get(name, "")) for name in names])
    if sort == "trouble":
        rows.sort(key=lambda row: -row.level)
    elif sort in keys:
        rows.sort(key=lambda row: -(row.data[keys[sort]] or 0))


def _section(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[_Row],
    noun: str,
    watched: bool,
    cell: Callable[[str, _Row], Any],
) -> Section:
    shown = [
        column
        for column in columns
        if (watched or column.key not in _WATCHED)
        and (
            column.key not in _OPTIONAL
            or any(row.data[column.key] or (column.key == "peers" and row.data["leader"]) for row in rows)
        )
    ]
    table = Table(title, shown, [[cell(column.key, row) for column in shown] for row in rows])
    return Section(table, [row.level for row in rows], noun, _SPARE[noun])


def _stream_cell(key: str, row: _Row) -> Any:
    value = row.data[key]
    match key:
        case "storage":
            return Cell(value, value.capitalize())
        case "byte_rate" if value is not None:
            sign = "+" if value > 0 else ""
            return Cell(value, f"{sign}{format_bytes(round(value))}/s")
        case "lost" if value:
            return Cell(value, f"{value:,}", "bad")
        case "peers":
            leader = f"{row.data['leader']}*" if row.data["leader"] else ""
            return Cell(value, ", ".join(filter(None, [leader, *value])))
    return _common(key, row)


def _link_cell(key: str, row: _Row) -> Any:
    value = row.data[key]
    match key:
        case "kind":
            return Cell(value, value.capitalize())
        case "active" if value < 0 or value >= health.SILENT:
            return Cell(value, "never" if value < 0 else format_duration(value), STYLES[row.level])
        case "lag_rate":
            return _trend(value, row.data["lag"])
        case "error":
            return Cell(value, value, "bad")
    return _common(key, row)


def _consumer_cell(key: str, row: _Row) -> Any:
    value = row.data[key]
    match key:
        case "mode":
            return Cell(value, value.capitalize())
        case "unprocessed_rate":
            return _trend(value, row.data["unprocessed"])
    return _common(key, row)


def _common(key: str, row: _Row) -> Any:
    value = row.data[key]
    if key == "trouble":
        return Cell(value, ", ".join(value), STYLES[row.level])
    if key in ("stream", "consumer") and row.level:
        return Cell(value, value, STYLES[row.level])
    return value


def _trend(rate: float | None, left: int) -> Any:
    """`↑ 120/s`, `↓ 50/s, 12s left`; nothing when it stands still."""
    if rate is None:
        return None
    if not rate:
        return Cell(rate, "")
    shown = f"{abs(rate):,.0f}/s" if abs(rate) >= 10 else f"{abs(rate):,.1f}/s"
    if rate > 0:
        return Cell(rate, f"↑ {shown}", "warn")
    over = f", {format_duration(round(left / -rate) * SECOND)} left" if left else ""
    return Cell(rate, f"↓ {shown}{over}", "good")


def _since(moment: str | None, now: datetime) -> int:
    if not moment:
        return NEVER
    return max(0, int((now - parse_time(moment)).total_seconds()) * SECOND)


def _utc(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
