"""`server stream-check` and `server consumer-check`: replicas side by side."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.monitor.server.replicas import Json, Replica, read_position
from jsctl.views.result import Cell, Column, Result, Table

_STATE = (
    ("messages", "messages", "count", 0),
    ("bytes", "bytes", "bytes", 12),
    ("subjects", "num_subjects", "count", 13),
    ("deleted", "num_deleted", "count", 14),
    ("consumers", "consumer_count", "count", 11),
    ("first", "first_seq", "count", 4),
    ("last", "last_seq", "count", 0),
)
"""Columns of a stream: their key, that in the state, their kind, and how soon they are left out."""

_OWNER = (
    Column("Raft", "raft_group", hideable=8),
    Column("Account", "account", hideable=3),
    Column("Node", "server"),
)
_END = (
    Column("Status", "status"),
    Column("Leader", "leader", hideable=1),
    Column("Peers", "peers", hideable=7),
)
_HEALTH = Column("Health", "health")
_ACCOUNT_ID = Column("Account ID", "account_id")
STREAMS = (
    Column("Stream", "stream"),
    *_OWNER,
    *(Column(key.title(), key, kind, hideable=rank) for key, _, kind, rank in _STATE),  # type: ignore[arg-type]
    *_END,
)
CONSUMERS = (
    Column("Consumer", "consumer"),
    Column("Stream", "stream"),
    *_OWNER,
    Column("Delivered (S, C)", "delivered"),
    Column("Ack Floor (S, C)", "ack_floor"),
    Column("Ack Pending", "num_ack_pending", "count", hideable=5),
    Column("Redelivered", "num_redelivered", "count", hideable=9),
    Column("Waiting", "num_waiting", "count", hideable=10),
    Column("Pending", "num_pending", "count", hideable=6),
    *_END[:2],
    Column("Stream Leader", "stream_leader", hideable=2),
    *_END[2:],
)


def streams(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of streams. health: that of each; None when it was not asked for."""
    rows = [
        [
            replica.name,
            *_build_owner(replica),
            *(_build_count(replica, key, kind) for _, key, kind, _ in _STATE),
            *_end(replica),
        ]
        for replica in replicas
    ]
    return _build_result("Streams", STREAMS, rows, replicas, health)


def consumers(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of consumers. health: that of each; None when it was not asked for."""
    rows = []
    for replica in replicas:
        last = int((replica.stream.get("state") or {}).get("last_seq", 0))
        progress = f" of {format_count(last)}" if last else ""
        counts = [int(replica.detail.get(column.key, 0)) for column in CONSUMERS[7:11]]
        status, leader, peers = _end(replica)
        rows.append(
            [
                replica.consumer,
                replica.name,
                *_build_owner(replica),
                _format_position(replica, "delivered", progress),
                _format_position(replica, "ack_floor", ""),
                *counts,
                status,
                leader,
                replica.stream_leader,
                peers,
            ]
        )
    return _build_result("Consumers", CONSUMERS, rows, replicas, health)


def find_deviations(replica: Replica) -> dict[str, int]:
    """Return by how much a replica differs from the leader's, by key: only what differs. The keys of a
    consumer are those of its positions, such as `delivered_stream_seq`."""
    if not replica.leading:
        return {}
    if replica.consumer:
        keys = [
            (
                f"{key}_{part}_seq",
                read_position(replica.detail, key)[at],
                read_position(replica.leading, key)[at],
            )
            for key in ("delivered", "ack_floor")
            for at, part in enumerate(("stream", "consumer"))
        ]
    else:
        state, leading = replica.detail.get("state") or {}, replica.leading.get("state") or {}
        keys = [(key, int(state.get(key, 0)), int(leading.get(key, 0))) for _, key, *_ in _STATE]
    return {key: value - expected for key, value, expected in keys if value != expected}


def _format_deviation(deviation: int) -> str:
    """Format a difference exactly: rounded, 10,000 and 9,999 bytes would look equal."""
    return f" ({deviation:+,})" if deviation else ""


def _build_count(replica: Replica, key: str, kind: str) -> object:
    value = int((replica.detail.get("state") or {}).get(key, 0))
    deviation = _format_deviation(find_deviations(replica).get(key, 0))
    shown = format_bytes(value) if kind == "bytes" else format_count(value)
    return Cell(value, shown + deviation, "bad") if deviation else value


def _format_position(replica: Replica, key: str, progress: str) -> str:
    stream, consumer = map(format_count, read_position(replica.detail, key))
    deviations = find_deviations(replica)
    off_stream, off_consumer = (
        _format_deviation(deviations.get(f"{key}_{part}_seq", 0)) for part in ("stream", "consumer")
    )
    return f"{stream}{off_stream}{progress}, {consumer}{off_consumer}"


def _build_owner(replica: Replica) -> list[object]:
    return [replica.group, replica.account, Cell(replica.server, replica.server + "*" * replica.leads)]


def _end(replica: Replica) -> list[object]:
    peers = (replica.detail.get("cluster") or {}).get("replicas") or []
    text = ", ".join(f"{peer.get('name')} {_format_condition(peer)}" for peer in peers)
    status = ", ".join(replica.statuses)
    return [Cell(status, status, "good" if replica.synced else "bad"), replica.leader, text]


def _format_condition(peer: Json) -> str:
    if peer.get("offline"):
        return "offline"
    return "current" if peer.get("current") else "not current"


def _build_result(
    title: str,
    columns: Sequence[Column],
    rows: list[list[object]],
    replicas: Sequence[Replica],
    health: Sequence[str] | None,
) -> Result:
    if health is not None:
        columns = (*columns, _HEALTH)
        rows = [[*row, text] for row, text in zip(rows, health, strict=True)]
    wrong = sum(not replica.synced for replica in replicas)
    heading = f"{title}: {pluralize(len(rows), 'replica')}, {wrong} not in sync"
    data = []
    for index, replica in enumerate(replicas):
        record = {
            "stream": replica.name,
            **({"consumer": replica.consumer} if replica.consumer else {}),
            "account": replica.account,
            "account_id": replica.account_id,
            "raft_group": replica.group,
            "server": replica.server,
            "leader": replica.leader,
            **({"stream_leader": replica.stream_leader} if replica.consumer else {}),
            "in_sync": replica.synced,
            "statuses": list(replica.statuses),
            "deviation": find_deviations(replica),
            "state": (replica.stream or replica.detail).get("state") or {},
            **({key: replica.detail.get(key) for key in _CONSUMER_KEYS} if replica.consumer else {}),
            "cluster": replica.detail.get("cluster"),
            **({"health": health[index]} if health is not None else {}),
        }
        data.append(record)
    # Files have the account's ID, as those of `nats`; people know accounts by their names.
    at = next(index for index, column in enumerate(columns) if column.key == "account") + 1
    filed = [[*row[:at], replica.account_id, *row[at:]] for row, replica in zip(rows, replicas, strict=True)]
    file_table = Table(heading, [*columns[:at], _ACCOUNT_ID, *columns[at:]], filed)
    return Result([Table(heading, columns, rows)], data=data, table=file_table)


_CONSUMER_KEYS = (
    "delivered",
    "ack_floor",
    "num_ack_pending",
    "num_redelivered",
    "num_waiting",
    "num_pending",
)
