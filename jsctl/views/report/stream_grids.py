"""The tables of the live report for streams, consumers, mirrors and sources. Pure."""

from collections.abc import Sequence
from typing import Any

from jsctl.command_lines import build_line
from jsctl.monitor.report.lines import ConsumerLine, LinkLine, StreamLine
from jsctl.monitor.report.places import Place
from jsctl.views.board import Grid
from jsctl.views.report.grid_cells import (
    TROUBLE,
    Page,
    Row,
    ago_cell,
    column,
    drain_cell,
    growth_cell,
    place_grid,
    place_keys,
    place_rows,
    rate_cell,
    remaining_cell,
    seconds,
    share_cell,
    suggest,
)


def _format_replicas(line: StreamLine) -> str:
    leader = f"{line.row.leader}*" if line.row.leader and line.row.peers else ""
    return " ".join(filter(None, [leader, *line.row.peers]))


_STREAMS = (
    column("Stream", "stream", "text", lambda line: line.row.stream),
    column("Messages", "messages", "count", lambda line: line.row.messages),
    column("Bytes", "bytes", "bytes", lambda line: line.row.bytes),
    column("In", "rate", "rate", lambda line: rate_cell(line.rate, line.event), quiet=True),
    column("Trend", "rates", "trend", lambda line: line.rates),
    column("Growth", "growth", "rate", lambda line: growth_cell(line.growth), quiet=True),
    column("Full", "share", "percent", lambda line: share_cell(line.share), optional=True),
    column(
        "Full In", "limit", "duration", lambda line: remaining_cell(line.limit), optional=True, quiet=True
    ),
    column("Consumers", "consumers", "count", lambda line: line.row.consumers),
    column("Last", "last", "ago", lambda line: ago_cell(line.idle), quiet=True),
    column("Lost", "lost", "count", lambda line: line.row.lost or None, optional=True),
    column("Deleted", "deleted", "count", lambda line: line.row.deleted or None, optional=True),
    column("Replicas", "peers", "text", _format_replicas, optional=True),
    column("Subjects", "subjects", "count", lambda line: line.row.subjects, wide=True),
    column("Storage", "storage", "text", lambda line: line.row.storage, wide=True),
    column("First", "first_seq", "count", lambda line: line.row.first_seq, wide=True),
    column("Last Seq", "last_seq", "count", lambda line: line.row.last_seq, wide=True),
    column("Created", "created", "time", lambda line: line.row.created, wide=True, quiet=True),
    TROUBLE,
)


def streams(places: Sequence[Place]) -> Grid:
    """Return the table of streams."""
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.streams),
        _STREAMS,
        lambda line: line.row.stream,
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
        record=_build_stream_record,
        line=lambda row: build_line("stream info", row.line.row.stream, place=row.place.flags),
        page=lambda row: Page(row.number, row.line.row.stream),
    )


def _build_stream_record(row: Row) -> dict[str, Any]:
    line: StreamLine = row.line
    return {
        **place_keys(row),
        "stream": line.row.stream,
        "messages": line.row.messages,
        "bytes": line.row.bytes,
        "message_rate": line.rate,
        "byte_rate": line.growth,
        "seconds_to_limit": seconds(line.limit),
        "share_of_limit": line.share,
        "consumers": line.row.consumers,
        "subjects": line.row.subjects,
        "first_seq": line.row.first_seq,
        "last_seq": line.row.last_seq,
        "last_ts": line.row.last_ts,
        "lost": line.row.lost,
        "deleted": line.row.deleted,
        "leader": line.row.leader,
        "peers": list(line.row.peers),
        "storage": line.row.storage,
        "created": line.row.created,
        "event": line.event or None,
        "trouble": [trouble.words for trouble in line.troubles],
        "codes": [trouble.code for trouble in line.troubles],
    }


_CONSUMERS = (
    column("Stream", "stream", "text", lambda line: line.stream),
    column("Consumer", "consumer", "text", lambda line: line.consumer),
    column("Lag", "lag", "count", lambda line: line.unprocessed),
    column("Trend", "lags", "trend", lambda line: line.trend.values),
    column(
        "Drains In", "drain", "duration", lambda line: drain_cell(line.drain, line.unprocessed), quiet=True
    ),
    column("Unacked", "ack_pending", "count", lambda line: line.ack_pending),
    column("Redelivered", "redelivered", "count", lambda line: line.redelivered),
    column("Delivered", "delivered", "rate", lambda line: rate_cell(line.delivered), quiet=True),
    column("Acked", "acknowledged", "rate", lambda line: rate_cell(line.acknowledged), quiet=True),
    column("Last", "last", "ago", lambda line: ago_cell(line.last_delivery), quiet=True),
    column("Pulls", "waiting", "count", lambda line: line.waiting, wide=True),
    column("Mode", "mode", "text", lambda line: line.mode, wide=True),
    column("Leader", "leader", "text", lambda line: line.leader, wide=True, optional=True),
    TROUBLE,
)


def consumers(places: Sequence[Place]) -> Grid:
    """Return the table of consumers."""
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.consumers),
        _CONSUMERS,
        lambda line: (line.stream, line.consumer),
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
        record=_build_consumer_record,
        line=lambda row: suggest(
            row.place, row.line.help, "consumer why", row.line.stream, row.line.consumer
        ),
        page=lambda row: Page(row.number, row.line.stream, row.line.consumer),
        empty="there are no consumers, or none was listed yet",
    )


def _build_consumer_record(row: Row) -> dict[str, Any]:
    line: ConsumerLine = row.line
    return {
        **place_keys(row),
        "stream": line.stream,
        "consumer": line.consumer,
        "mode": line.mode,
        "lag_messages": line.unprocessed,
        "lag_rate": line.trend.slope,
        "seconds_to_drain": seconds(line.drain),
        "ack_pending": line.ack_pending,
        "redelivered": line.redelivered,
        "delivered_rate": line.delivered,
        "acknowledged_rate": line.acknowledged,
        "last_delivery_ns": None if line.last_delivery < 0 else line.last_delivery,
        "waiting_pulls": line.waiting,
        "leader": line.leader or None,
        "trouble": [trouble.words for trouble in line.troubles],
        "codes": [trouble.code for trouble in line.troubles],
        "why": line.why or None,
        "help": line.help.at(row.place.flags) if line.help else None,
    }


_LINKS = (
    column("Stream", "stream", "text", lambda line: line.row.stream),
    column("Kind", "kind", "text", lambda line: line.row.kind),
    column("Origin", "origin", "text", lambda line: line.row.origin),
    column("API Prefix", "api_prefix", "text", lambda line: line.row.api_prefix, optional=True),
    column("Lag", "lag", "count", lambda line: line.row.lag),
    column("Trend", "lags", "trend", lambda line: line.trend.values),
    column("Drains In", "drain", "duration", lambda line: drain_cell(line.drain, line.row.lag), quiet=True),
    column("Last Seen", "active", "ago", lambda line: ago_cell(line.row.active), quiet=True),
    column("Filters", "filters", "text", lambda line: line.row.filters, wide=True, optional=True),
    TROUBLE,
    column("Error", "error", "prose", lambda line: line.row.error, optional=True),
)


def links(places: Sequence[Place]) -> Grid:
    """Return the table of mirrors and sources."""

    def record(row: Row) -> dict[str, Any]:
        line: LinkLine = row.line
        return {
            **place_keys(row),
            "stream": line.row.stream,
            "kind": line.row.kind,
            "origin": line.row.origin,
            "api_prefix": line.row.api_prefix or None,
            "filters": line.row.filters or None,
            "lag_messages": line.row.lag,
            "lag_rate": line.trend.slope,
            "seconds_to_drain": seconds(line.drain),
            "active_ns": None if line.row.active < 0 else line.row.active,
            "error": line.row.error or None,
            "trouble": [trouble.words for trouble in line.troubles],
            "codes": [trouble.code for trouble in line.troubles],
        }

    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.links),
        _LINKS,
        lambda line: (line.row.stream, line.row.kind, line.row.origin, line.row.api_prefix, line.row.filters),
        spare=("filters", "api_prefix", "kind", "lags", "drain", "error", "active"),
        noun="mirrors and sources",
        record=record,
        line=lambda row: build_line("stream info", row.line.row.stream, place=row.place.flags),
        page=lambda row: Page(row.number, row.line.row.stream),
    )
