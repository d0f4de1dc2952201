"""The tables of the live report for streams, consumers, mirrors and sources. Pure."""

from collections.abc import Sequence
from typing import Any

from jsctl.monitor.report.lines import ConsumerLine, LinkLine, StreamLine
from jsctl.monitor.report.places import Place
from jsctl.views.board import Grid
from jsctl.views.report.grid_cells import (
    TROUBLE,
    Page,
    Row,
    ago_cell,
    column,
    command_line,
    drain_cell,
    growth_cell,
    left_cell,
    mending_line,
    place_grid,
    place_rows,
    rate_cell,
    seconds,
    share_cell,
    where,
)


def _replicas(one: StreamLine) -> str:
    leader = f"{one.row.leader}*" if one.row.leader and one.row.peers else ""
    return " ".join(filter(None, [leader, *one.row.peers]))


_STREAMS = (
    column("Stream", "stream", "text", lambda one: one.row.stream),
    column("Messages", "messages", "count", lambda one: one.row.messages),
    column("Bytes", "bytes", "bytes", lambda one: one.row.bytes),
    column("In", "rate", "rate", lambda one: rate_cell(one.rate, one.event), quiet=True),
    column("Trend", "rates", "trend", lambda one: one.rates),
    column("Growth", "growth", "rate", lambda one: growth_cell(one.growth), quiet=True),
    column("Full", "share", "percent", lambda one: share_cell(one.share), optional=True),
    column("Full In", "limit", "duration", lambda one: left_cell(one.limit), optional=True, quiet=True),
    column("Consumers", "consumers", "count", lambda one: one.row.consumers),
    column("Last", "last", "ago", lambda one: ago_cell(one.idle), quiet=True),
    column("Lost", "lost", "count", lambda one: one.row.lost or None, optional=True),
    column("Deleted", "deleted", "count", lambda one: one.row.deleted or None, optional=True),
    column("Replicas", "peers", "text", _replicas, optional=True),
    column("Subjects", "subjects", "count", lambda one: one.row.subjects, wide=True),
    column("Storage", "storage", "text", lambda one: one.row.storage, wide=True),
    column("First", "first_seq", "count", lambda one: one.row.first_seq, wide=True),
    column("Last Seq", "last_seq", "count", lambda one: one.row.last_seq, wide=True),
    column("Created", "created", "time", lambda one: one.row.created, wide=True, quiet=True),
    TROUBLE,
)


def streams(places: Sequence[Place]) -> Grid:
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.streams),
        _STREAMS,
        lambda one: one.row.stream,
        spare=(
            *(
                "created",
                "storage",
                "first_seq",
                "last_seq",
                "subjects",
                "deleted",
                "lost",
                "peers",
                "consumers",
            ),
            *("rates", "last", "growth", "share", "limit", "bytes", "rate"),
        ),
        noun="streams",
        record=_stream_record,
        line=lambda row: command_line(row.place, "stream info", row.line.row.stream),
        page=lambda row: Page(row.number, row.line.row.stream),
    )


def _stream_record(row: Row) -> dict[str, Any]:
    one: StreamLine = row.line
    return {
        **where(row),
        "stream": one.row.stream,
        "messages": one.row.messages,
        "bytes": one.row.bytes,
        "message_rate": one.rate,
        "byte_rate": one.growth,
        "seconds_to_limit": seconds(one.limit),
        "share_of_limit": one.share,
        "consumers": one.row.consumers,
        "subjects": one.row.subjects,
        "first_seq": one.row.first_seq,
        "last_seq": one.row.last_seq,
        "last_ts": one.row.last_ts,
        "lost": one.row.lost,
        "deleted": one.row.deleted,
        "leader": one.row.leader,
        "peers": list(one.row.peers),
        "storage": one.row.storage,
        "created": one.row.created,
        "event": one.event or None,
        "trouble": [trouble.words for trouble in one.troubles],
    }


_CONSUMERS = (
    column("Stream", "stream", "text", lambda one: one.stream),
    column("Consumer", "consumer", "text", lambda one: one.consumer),
    column("Lag", "lag", "count", lambda one: one.unprocessed),
    column("Trend", "lags", "trend", lambda one: one.trend.values),
    column("Drains In", "drain", "duration", lambda one: drain_cell(one.drain, one.unprocessed), quiet=True),
    column("Unacked", "ack_pending", "count", lambda one: one.ack_pending),
    column("Again", "redelivered", "count", lambda one: one.redelivered),
    column("Delivered", "delivered", "rate", lambda one: rate_cell(one.delivered), quiet=True),
    column("Acked", "acknowledged", "rate", lambda one: rate_cell(one.acknowledged), quiet=True),
    column("Last", "last", "ago", lambda one: ago_cell(one.last), quiet=True),
    column("Pulls", "waiting", "count", lambda one: one.waiting, wide=True),
    column("Mode", "mode", "text", lambda one: one.mode, wide=True),
    column("Leader", "leader", "text", lambda one: one.leader, wide=True, optional=True),
    TROUBLE,
)


def consumers(places: Sequence[Place]) -> Grid:
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.consumers),
        _CONSUMERS,
        lambda one: (one.stream, one.consumer),
        spare=(
            "leader",
            "mode",
            "waiting",
            "redelivered",
            "last",
            "acknowledged",
            "ack_pending",
            "delivered",
            "lags",
            "drain",
        ),
        noun="consumers",
        record=_consumer_record,
        line=lambda row: mending_line(row.place, row.line.help, row.line.stream, row.line.consumer),
        page=lambda row: Page(row.number, row.line.stream, row.line.consumer),
        empty="there are no consumers, or none was listed yet",
    )


def _consumer_record(row: Row) -> dict[str, Any]:
    one: ConsumerLine = row.line
    return {
        **where(row),
        "stream": one.stream,
        "consumer": one.consumer,
        "mode": one.mode,
        "lag_messages": one.unprocessed,
        "lag_rate": one.trend.slope,
        "seconds_to_drain": seconds(one.drain),
        "ack_pending": one.ack_pending,
        "redelivered": one.redelivered,
        "delivered_rate": one.delivered,
        "acknowledged_rate": one.acknowledged,
        "last_delivery_ns": None if one.last < 0 else one.last,
        "waiting_pulls": one.waiting,
        "leader": one.leader or None,
        "trouble": [trouble.words for trouble in one.troubles],
        "why": one.why or None,
        "help": one.help or None,
    }


_LINKS = (
    column("Stream", "stream", "text", lambda one: one.row.stream),
    column("Kind", "kind", "text", lambda one: one.row.kind),
    column("Origin", "origin", "text", lambda one: one.row.origin),
    column("API Prefix", "api_prefix", "text", lambda one: one.row.api_prefix, optional=True),
    column("Lag", "lag", "count", lambda one: one.row.lag),
    column("Trend", "lags", "trend", lambda one: one.trend.values),
    column("Drains In", "drain", "duration", lambda one: drain_cell(one.drain, one.row.lag), quiet=True),
    column("Last Seen", "active", "ago", lambda one: ago_cell(one.row.active), quiet=True),
    column("Filters", "filters", "text", lambda one: one.row.filters, wide=True, optional=True),
    TROUBLE,
    column("Error", "error", "prose", lambda one: one.row.error, optional=True),
)


def links(places: Sequence[Place]) -> Grid:
    def record(row: Row) -> dict[str, Any]:
        one: LinkLine = row.line
        return {
            **where(row),
            "stream": one.row.stream,
            "kind": one.row.kind,
            "origin": one.row.origin,
            "api_prefix": one.row.api_prefix or None,
            "filters": one.row.filters or None,
            "lag_messages": one.row.lag,
            "lag_rate": one.trend.slope,
            "seconds_to_drain": seconds(one.drain),
            "active_ns": None if one.row.active < 0 else one.row.active,
            "error": one.row.error or None,
            "trouble": [trouble.words for trouble in one.troubles],
        }

    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.links),
        _LINKS,
        lambda one: (one.row.stream, one.row.kind, one.row.origin, one.row.api_prefix, one.row.filters),
        spare=("filters", "api_prefix", "kind", "lags", "drain", "error", "active"),
        noun="mirrors and sources",
        record=record,
        line=lambda row: command_line(row.place, "stream info", row.line.row.stream),
        page=lambda row: Page(row.number, row.line.row.stream),
    )
