"""The rows of `jsctl report`: what is known of one context and domain, with rates and what is wrong."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from jsctl.errors import JsctlError
from jsctl.monitor import health
from jsctl.monitor.health import Trouble
from jsctl.monitor.overview import Overview, Rates, consumer_key, link, rates
from jsctl.units import NEVER, age, whole_seconds
from jsctl.views.report.panes import BAD, FINE, WARN

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


class Row(NamedTuple):
    """`data`: the JSON record, with what is wrong in words under `trouble`."""

    data: dict[str, Any]
    level: int


class Rows(NamedTuple):
    streams: Sequence[Row]
    replication: Sequence[Row]
    consumers: Sequence[Row] | None
    account: Sequence[Trouble]


def rows_of(state: State, sort: Sort) -> Rows:
    now = state.history[-1][1]
    changes = _changes(state.history)
    streams = _streams(now, changes)
    replication = _replication(state.history, changes)
    consumers = None if now.consumers is None else _consumers(state.history, changes)
    _order(streams, sort, {"messages": "messages", "bytes": "bytes", "rate": "message_rate"})
    _order(replication, sort, {"lag": "lag"})
    if consumers is not None:
        _order(consumers, sort, {"lag": "unprocessed"})
    return Rows(streams, replication, consumers, health.of_account(now.account))


def _changes(history: Sequence[tuple[float, Overview]]) -> Rates:
    if len(history) < 2:
        return Rates({}, {}, {}, {})
    (then, before), (now, after) = history[-2:]
    return rates(before, after, now - then)


def _streams(now: Overview, changes: Rates) -> list[Row]:
    rows = []
    for row in now.streams:
        found = list(now.troubles.get(row.stream, ()))
        if row.offline is not None:
            found.insert(0, Trouble(f"offline: {row.offline}", True))
        data = row._asdict()
        del data["context"], data["domain"]
        data["peers"] = list(row.peers)
        data["message_rate"] = changes.messages.get(row.stream)
        data["byte_rate"] = changes.bytes.get(row.stream)
        rows.append(_row(data, found))
    return rows


def _replication(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[Row]:
    now = history[-1][1]
    created = {row.stream: row.created for row in now.streams}
    lags: dict[Any, list[int]] = {}
    for _, overview in history:
        for row in overview.links:
            lags.setdefault(link(row), []).append(row.lag)
    rows = []
    for row in now.links:
        data = row._asdict()
        del data["context"], data["domain"]
        data["lag_rate"] = changes.lag.get(link(row))
        rows.append(_row(data, health.of_link(row, lags[link(row)], created[row.stream], now.at)))
    return rows


def _consumers(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[Row]:
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
            "last_delivery": _seconds_since((info.get("delivered") or {}).get("last_active"), now.at),
        }
        rows.append(_row(data, health.of_consumer(info, pending[key], now.at)))
    return rows


def _row(data: dict[str, Any], found: Sequence[Trouble]) -> Row:
    data["trouble"] = [trouble.words for trouble in found]
    return Row(data, BAD if any(t.bad for t in found) else WARN if found else FINE)


def _order(rows: list[Row], sort: Sort, keys: dict[str, str]) -> None:
    """By name; or the largest, or the worst, first."""
    names = ("stream", "kind", "origin", "consumer")
    rows.sort(key=lambda row: [str(row.data.get(name, "")) for name in names])
    if sort == "trouble":
        rows.sort(key=lambda row: -row.level)
    elif sort in keys:
        rows.sort(key=lambda row: -(row.data[keys[sort]] or 0))


def _seconds_since(time: str | None, now: datetime) -> int:
    span = age(time, now)
    return span if span == NEVER else whole_seconds(span)
