"""The rows of `jsctl report`: streams, links and consumers of a domain, rates and what is wrong. No I/O."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.facts import Facts
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.rates import Rates, build_consumer_key, compute_rates
from jsctl.monitor.rules import objects
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow, build_link_key
from jsctl.monitor.trouble import Gap, Trouble
from jsctl.units import NEVER, compute_age, truncate_to_seconds

Sort = Literal["name", "messages", "bytes", "rate", "lag", "trouble"]

FINE, WARN, BAD = 0, 1, 2
"""The levels of trouble: none, something to watch, something that does not work."""


class DomainState(NamedTuple):
    """The state of one context and domain.

    history: the last overviews, oldest first, each with its time in seconds of a monotonic clock. failure:
    why the last attempt failed. at: when it ended (seconds since 1970), None before the first. waiting:
    seconds for which an unusually long attempt has been open, else 0.
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
        """Why the place as a whole cannot be shown, empty when it can."""
        if self.failure is not None:
            return str(self.failure)
        if self.waiting:
            return f"no answer for {self.waiting:.0f}s"
        return "" if self.history else "no answer yet"


class StreamStatus(NamedTuple):
    """A stream. Rates are per second, None without two overviews."""

    stream: StreamRow
    message_rate: float | None
    byte_rate: float | None
    troubles: Sequence[Trouble]


class LinkStatus(NamedTuple):
    """A mirror or source. lag_rate: per second, None without two overviews."""

    link: ReplicationRow
    lag_rate: float | None
    troubles: Sequence[Trouble]


class ConsumerStatus(NamedTuple):
    """A consumer. unprocessed_rate: per second, None without two overviews. last_delivery: ns since, in whole
    seconds; NEVER (-1) for none."""

    stream: str
    consumer: str
    mode: Literal["push", "pull"]
    ack_pending: int
    redelivered: int
    unprocessed: int
    unprocessed_rate: float | None
    last_delivery: int
    troubles: Sequence[Trouble]


Status = TypeVar("Status", StreamStatus, LinkStatus, ConsumerStatus)


class Report(NamedTuple):
    """All rows of one domain.

    consumers: None when they were not asked for, or may not be listed. account: what is wrong with the
    account as a whole. gaps: what was not looked at.
    """

    streams: Sequence[StreamStatus] = ()
    links: Sequence[LinkStatus] = ()
    consumers: Sequence[ConsumerStatus] | None = ()
    account: Sequence[Trouble] = ()
    gaps: Sequence[Gap] = ()


def find_level(troubles: Sequence[Trouble]) -> int:
    """Return FINE, WARN or BAD."""
    if not troubles:  # nearly always
        return FINE
    return BAD if any(trouble.bad for trouble in troubles) else WARN


def build_report(state: DomainState, sort: Sort) -> Report:
    """Return the rows of the last overview, with the rates since the one before.

    sort: `name`; otherwise the largest come first, or with `trouble` the worst. A table that has no such
    column stays sorted by name.
    """
    now = state.history[-1][1]
    changes = _compute_changes(state.history)
    streams, links = _build_stream_rows(now, changes), _build_link_rows(state.history, changes)
    consumers = None if now.consumers is None else _build_consumer_rows(state.history, changes)
    _sort_rows(
        streams,
        sort,
        {
            "messages": lambda row: row.stream.messages,
            "bytes": lambda row: row.stream.bytes,
            "rate": lambda row: row.message_rate,
        },
    )
    _sort_rows(links, sort, {"lag": lambda row: row.link.lag})
    if consumers is not None:
        _sort_rows(consumers, sort, {"lag": lambda row: row.unprocessed})
    account_troubles = [*now.login, *objects.check_account(now.account)]
    return Report(streams, links, consumers, account_troubles, now.gaps)


def _compute_changes(history: Sequence[tuple[float, Overview]]) -> Rates:
    if len(history) < 2:
        return Rates({}, {}, {}, {})
    (then, before), (now, after) = history[-2:]
    return compute_rates(before, after, now - then)


def _build_stream_rows(now: Overview, changes: Rates) -> list[StreamStatus]:
    rows = []
    for row in now.streams:
        troubles = list(now.troubles.get(row.stream, ()))
        if row.offline is not None:
            troubles.insert(0, Trouble(f"offline: {row.offline}", True, "STREAM_NO_LEADER"))
        rows.append(
            StreamStatus(row, changes.messages.get(row.stream), changes.bytes.get(row.stream), troubles)
        )
    return sorted(rows, key=lambda row: row.stream.stream)


def _build_link_rows(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[LinkStatus]:
    now = history[-1][1]
    created = {row.stream: row.created for row in now.streams}
    lags: dict[Any, list[int]] = {}
    for _, overview in history:
        for row in overview.links:
            lags.setdefault(build_link_key(row), []).append(row.lag)
    rows = []
    for row in now.links:
        key = build_link_key(row)
        troubles = objects.check_link(
            row, lags[key], created[row.stream], now.at, now.link_troubles.get(key, ())
        )
        rows.append(LinkStatus(row, changes.lag.get(key), troubles))
    return sorted(rows, key=lambda row: (row.link.stream, row.link.kind, row.link.origin))


def _build_consumer_rows(history: Sequence[tuple[float, Overview]], changes: Rates) -> list[ConsumerStatus]:
    now = history[-1][1]
    pending: dict[Any, list[int]] = {}
    for _, overview in history:
        for info in overview.consumers or ():
            pending.setdefault(build_consumer_key(info), []).append(info["num_pending"])
    rows = [
        _build_consumer_row(
            info, pending[build_consumer_key(info)], changes.pending.get(build_consumer_key(info)), now
        )
        for info in now.consumers or ()
    ]
    return sorted(rows, key=lambda row: (row.stream, row.consumer))


def _build_consumer_row(
    info: Json, pending: Sequence[int], rate: float | None, now: Overview
) -> ConsumerStatus:
    last_delivery = compute_age((info.get("delivered") or {}).get("last_active"), now.at)
    facts = Facts(info["stream_name"], info["name"], info, now.consumed.get(info["stream_name"], {}))
    return ConsumerStatus(
        stream=info["stream_name"],
        consumer=info["name"],
        mode="push" if (info.get("config") or {}).get("deliver_subject") else "pull",
        ack_pending=info.get("num_ack_pending", 0),
        redelivered=info.get("num_redelivered", 0),
        unprocessed=info.get("num_pending", 0),
        unprocessed_rate=rate,
        last_delivery=NEVER if last_delivery == NEVER else truncate_to_seconds(last_delivery),
        troubles=objects.check_consumer(facts, pending),
    )


def _sort_rows(rows: list[Status], sort: Sort, keys: dict[str, Callable[[Status], float | None]]) -> None:
    """Sort rows that are in the order of their names."""
    if sort == "trouble":
        rows.sort(key=lambda row: -find_level(row.troubles))
    elif sort in keys:
        rows.sort(key=lambda row: -(keys[sort](row) or 0))
