"""The tables of `jsctl export reports`: the values of `jsctl report`, with a row for each sample of a stream,
mirror or source, consumer or server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jsctl.base.units import NEVER
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.monitor.consumer.rows import build_consumer_line
from jsctl.monitor.origins import fetch_replication_rows
from jsctl.monitor.report.figures.lists import FIGURES
from jsctl.monitor.report.lines import (
    LinkLine,
    ServerLine,
    StreamLine,
    build_account_lines,
    build_server_line,
)
from jsctl.monitor.report.overview import fetch_account, fetch_consumers
from jsctl.monitor.report.places import Answers
from jsctl.monitor.server.requests import fetch_jetstream
from jsctl.monitor.stream.rows import (
    ReplicationRow,
    Snapshot,
    StreamRow,
    build_stream_rows,
    fetch_snapshot,
)
from jsctl.monitor.trouble import Gap
from jsctl.spark.export.table_schema import Column, TableSchema, Type

_SAMPLE = (
    Column("sampled_at", "timestamp", "when the server answered"),
    Column("context", "string", "the context; without one, the server's address"),
    Column("domain", "string", "the JetStream domain, empty if there is none"),
)
_GROUP = (
    Column("cluster", "string", "its cluster, null on a server without one"),
    Column("leader", "string", "the server that leads it, null without a leader"),
    Column("peers", "string", "followers, separated by commas; `!` after one that is offline or behind"),
)

_TYPES: Mapping[str, Type] = {"natural": "long", "ns": "duration", "time": "timestamp", "bool": "boolean"}


def _build_columns(kind: str) -> Iterator[Column]:
    """Yield a column for each figure that tables have."""
    for figure in FIGURES[kind]:
        if figure.table_column:
            yield Column(figure.table_column, _TYPES.get(figure.kind.rstrip("?"), "string"), figure.about)


_READERS = {
    kind: [(figure.table_column, figure.build_reader()) for figure in own if figure.table_column]
    for kind, own in FIGURES.items()
}

STREAMS = TableSchema(
    "streams",
    (
        *_SAMPLE,
        *_build_columns("streams"),
        Column("max_messages", "long", "most messages that it may hold, null without a limit"),
        Column("max_bytes", "long", "most bytes that it may hold, null without a limit"),
    ),
)

REPLICATION = TableSchema("replication", (*_SAMPLE, *_build_columns("replication")))

CONSUMERS = TableSchema(
    "consumers",
    (
        *_SAMPLE,
        Column("stream", "string", "its stream"),
        Column("consumer", "string", "its name"),
        Column("mode", "string", "pull or push"),
        Column("ack_policy", "string", "none, all or explicit"),
        Column("delivered", "long", "messages delivered since it was created, including redeliveries"),
        Column("delivered_seq", "long", "stream sequence of the last delivery"),
        Column("ack_floor", "long", "stream sequence up to which all is acknowledged"),
        Column("ack_pending", "long", "messages delivered and not acknowledged"),
        Column("max_ack_pending", "long", "limit of these, -1 without a limit"),
        Column("redelivered", "long", "of these, messages delivered more than once"),
        Column("unprocessed", "long", "messages not yet delivered: its lag"),
        Column("ack_age", "duration", "since the last acknowledgement, null without one"),
        Column("waiting", "long", "waiting pull requests"),
        Column("bound", "boolean", "push: a client is subscribed"),
        Column("paused_until", "timestamp", "null when it is not paused"),
        *_GROUP,
        *_build_columns("consumers"),
    ),
)

SERVERS = TableSchema("servers", (*_SAMPLE, *_build_columns("servers")))
"""It has rows only with a login of the system account."""

ACCOUNTS = TableSchema("accounts", (*_SAMPLE, *_build_columns("accounts")))

SCHEMAS = {schema.name: schema for schema in (STREAMS, REPLICATION, CONSUMERS, SERVERS, ACCOUNTS)}


class Sample(NamedTuple):
    """A sample of one domain.

    links: its mirrors and sources. consumers: entries of CONSUMER.LIST. servers: replies to PING.JSZ.
    account: the answer to INFO, empty when that is not allowed. gaps: sentences about what could not be
    fetched, and why.
    """

    snapshot: Snapshot
    links: Sequence[ReplicationRow] = ()
    consumers: Sequence[Json] = ()
    servers: Sequence[Json] = ()
    account: Json = {}  # noqa: RUF012
    gaps: Sequence[str] = ()


async def fetch_sample(api: Api) -> Sample:
    """Fetch the data for all tables.

    A login of the system account sees servers and no streams, other logins no servers. If there are neither,
    the error of fetching the streams is raised.
    """
    try:
        replies = await fetch_jetstream(api.connection)
    except JsctlError:
        replies = []
    try:
        streams = await fetch_snapshot(api)
        with_consumers = [
            info["config"]["name"] for info in streams.infos if info["state"].get("consumer_count")
        ]
        consumers, gaps = await fetch_consumers(api, with_consumers)
        links = await fetch_replication_rows(api, streams)
    except JsctlError:
        if not replies:
            raise
        return Sample(Snapshot(datetime.now(UTC), domain=api.domain), servers=replies)
    account = await fetch_account(api)
    if isinstance(account, Gap):
        gaps, account = [*gaps, account], {}
    return Sample(streams, links, consumers or (), replies, account, [gap.why for gap in gaps])


Rows = dict[str, Sequence[Mapping[str, Any]]]
"""Rows of the tables, by column name."""


def build_rows_by_table(samples: Iterable[Sample]) -> Rows:
    """Return samples as rows of the tables."""
    tables: dict[str, list[Mapping[str, Any]]] = {name: [] for name in SCHEMAS}
    for sample in samples:
        snapshot = sample.snapshot
        configs = {info["config"]["name"]: info["config"] for info in snapshot.infos}
        streams = [_build_stream_row(r, configs.get(r.stream, {})) for r in build_stream_rows(snapshot)]
        links = [row._replace(context=snapshot.context, domain=snapshot.domain) for row in sample.links]
        common = {"sampled_at": snapshot.at, "context": snapshot.context, "domain": snapshot.domain}
        own = _build_tables(common, streams, links, sample.consumers, sample.servers, sample.account)
        for name, rows in own.items():
            tables[name] += rows
    return dict(tables)


def build_recorded_rows(answers: Answers, context: str, domain: str, at: datetime) -> Rows:
    """Return the answers of one place in a recorded round as rows of the tables. at: the round's time."""
    servers = answers.servers[1] if answers.servers else ()
    common = {"sampled_at": at, "context": context, "domain": domain}
    overview = answers.overview
    if overview is None:
        return _build_tables(common, (), (), (), servers, answers.account or {})
    streams = []
    for row in overview.streams:
        limits = overview.limits.get(row.stream)
        bounds = {} if limits is None else {"max_msgs": limits.messages, "max_bytes": limits.bytes}
        streams.append(_build_stream_row(row, bounds))
    common["sampled_at"] = overview.at
    account = answers.account or overview.account
    return _build_tables(common, streams, overview.links, overview.consumers or (), servers, account)


def _build_tables(
    common: Mapping[str, Any],
    streams: Iterable[dict[str, Any]],
    links: Iterable[ReplicationRow],
    consumers: Iterable[Json],
    servers: Iterable[Json],
    account: Json,
) -> Rows:
    """Return the rows of one sample. common: the columns of each row. servers: replies to PING.JSZ. account:
    its answer to INFO, empty for none."""
    tiers = build_account_lines(account) if account else ()
    tables = {
        "streams": streams,
        "replication": (_build_line_values("replication", LinkLine(link)) for link in links),
        "consumers": map(_build_consumer_row, consumers),
        "servers": (_build_server_row(build_server_line({}, reply)) for reply in servers),
        "accounts": (_build_line_values("accounts", line) for line in tiers),
    }
    return {name: [{**common, **row} for row in tables[name]] for name in SCHEMAS}


def _build_stream_row(row: StreamRow, config: Json) -> dict[str, Any]:
    return {
        **_build_line_values("streams", StreamLine(row)),
        "max_messages": _to_limit(config.get("max_msgs")),
        "max_bytes": _to_limit(config.get("max_bytes")),
    }


def _build_consumer_row(info: Json) -> dict[str, Any]:
    line = build_consumer_line(info)
    delivered = info.get("delivered") or {}
    return _build_values(
        CONSUMERS,
        line,
        delivered=int(delivered.get("consumer_seq", 0)),
        delivered_seq=int(delivered.get("stream_seq", 0)),
        ack_age=_to_known_span(line.ack_age),
        peers=", ".join(line.peers),
        **_build_line_values("consumers", line),
    )


def _build_server_row(line: ServerLine) -> dict[str, Any]:
    return {"domain": line.row.domain if line.row else "", **_build_line_values("servers", line)}


def _build_line_values(kind: str, line: Any) -> dict[str, Any]:
    """Return the values of the columns that figures of a line have."""
    values = ((name, read(line)) for name, read in _READERS[kind])
    return {name: ", ".join(value) if isinstance(value, tuple | list) else value for name, value in values}


def _build_values(table: TableSchema, row: object, **values: Any) -> dict[str, Any]:
    """Return the values of a table's columns, except those of the sample, by name: those in `values`, or else
    the row's attributes."""
    names = [column.name for column in table.columns[len(_SAMPLE) :]]
    return {name: values[name] if name in values else getattr(row, name) for name in names}


def _to_known_span(span: int) -> int | None:
    """Return a span of ns; None for NEVER."""
    return None if span == NEVER else span


def _to_limit(value: int | None) -> int | None:
    """Return a limit; None for no limit."""
    return value if value and value > 0 else None
