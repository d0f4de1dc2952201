"""`server stream-check` and `server consumer-check`: replicas side by side."""

import math
from collections.abc import Sequence

from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.monitor.server.replicas import Json, Replica, read_position
from jsctl.views.result import Cell, Column, Kind, Result, Table, build_cells

_STATE: Sequence[tuple[str, str, Kind, int]] = (
    ("messages", "messages", "count", 0),
    ("bytes", "bytes", "bytes", 12),
    ("subjects", "num_subjects", "count", 13),
    ("deleted", "num_deleted", "count", 14),
    ("consumers", "consumer_count", "count", 11),
    ("first", "first_seq", "count", 4),
    ("last", "last_seq", "count", 0),
)
"""Columns of a stream: their key, that in the state, their kind, and how soon they are left out."""


def _build_state_column(key: str, name: str, kind: Kind, hideable: int) -> Column:
    return Column(
        *(key.title(), key, kind),
        read=lambda replica: _build_count(replica, name, kind),
        hideable=hideable,
    )


def _build_count_column(title: str, key: str, hideable: int) -> Column:
    return Column(
        title, key, "count", read=lambda replica: int(replica.detail.get(key, 0)), hideable=hideable
    )


def _build_status_cell(replica: Replica) -> Cell:
    status = ", ".join(replica.statuses)
    return Cell(status, status, "good" if replica.synced else "bad")


def _list_peers(replica: Replica) -> str:
    peers = (replica.detail.get("cluster") or {}).get("replicas") or []
    return ", ".join(f"{peer.get('name')} {_format_condition(peer)}" for peer in peers)


def _format_delivered(replica: Replica) -> str:
    last = int((replica.stream.get("state") or {}).get("last_seq", 0))
    return _format_position(replica, "delivered", f" of {format_count(last)}" if last else "")


_STREAM = Column("Stream", "stream", read=lambda replica: replica.name)
_OWNER = (
    Column("Raft", "raft_group", read=lambda replica: replica.group, hideable=8),
    Column("Account", "account", hideable=3),
    Column("Node", "server", read=lambda replica: Cell(replica.server, replica.server + "*" * replica.leads)),
)
_STATUS = Column("Status", "status", read=_build_status_cell)
_LEADER = Column("Leader", "leader", hideable=1)
_PEERS = Column("Peers", "peers", read=_list_peers, hideable=7)
_HEALTH = Column("Health", "health")
_ACCOUNT_ID = Column("Account ID", "account_id")
_PROGRESS = (
    Column("Delivered (S, C)", "delivered", read=_format_delivered),
    Column("Ack Floor (S, C)", "ack_floor", read=lambda replica: _format_position(replica, "ack_floor", "")),
    _build_count_column("Ack Pending", "num_ack_pending", 5),
    _build_count_column("Redelivered", "num_redelivered", 9),
    _build_count_column("Waiting", "num_waiting", 10),
    _build_count_column("Pending", "num_pending", 6),
)
"""Columns of a consumer, whose keys are those in its info."""
STREAMS = (_STREAM, *_OWNER, *(_build_state_column(*each) for each in _STATE), _STATUS, _LEADER, _PEERS)
CONSUMERS = (
    Column("Consumer", "consumer"),
    _STREAM,
    *_OWNER,
    *_PROGRESS,
    _STATUS,
    _LEADER,
    Column("Stream Leader", "stream_leader", hideable=2),
    _PEERS,
)


def streams(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of streams. health: that of each; None when it was not asked for."""
    return _build_result("Streams", STREAMS, replicas, health)


def consumers(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of consumers. health: that of each; None when it was not asked for."""
    return _build_result("Consumers", CONSUMERS, replicas, health)


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


def _format_deviation(value: int, deviation: int) -> str:
    """Format by how much a value differs from the leader's, in percent, at least 0.01, and 100 if that is 0:
    bytes that are rounded would look equal."""
    if not deviation:
        return ""
    percent = 100 * deviation / (value - deviation) if value != deviation else 100.0
    percent = math.copysign(max(abs(percent), 0.01), deviation)
    return f" ({percent:+,.2f}".rstrip("0").rstrip(".") + "%)"


def _build_count(replica: Replica, key: str, kind: str) -> object:
    value = int((replica.detail.get("state") or {}).get(key, 0))
    deviation = _format_deviation(value, find_deviations(replica).get(key, 0))
    shown = format_bytes(value) if kind == "bytes" else format_count(value)
    return Cell(value, shown + deviation, "bad") if deviation else value


def _format_position(replica: Replica, key: str, progress: str) -> str:
    deviations = find_deviations(replica)
    stream, consumer = (
        format_count(value) + _format_deviation(value, deviations.get(f"{key}_{part}_seq", 0))
        for value, part in zip(read_position(replica.detail, key), ("stream", "consumer"), strict=True)
    )
    return f"{stream}{progress}, {consumer}"


def _format_condition(peer: Json) -> str:
    if peer.get("offline"):
        return "offline"
    return "current" if peer.get("current") else "not current"


def _build_result(
    title: str,
    columns: Sequence[Column],
    replicas: Sequence[Replica],
    health: Sequence[str] | None,
) -> Result:
    # Files have the account's ID, as those of `nats`; people know accounts by their names.
    at = columns.index(_OWNER[1]) + 1
    filed = (*columns[:at], _ACCOUNT_ID, *columns[at:])
    wrong = sum(not replica.synced for replica in replicas)
    heading = f"{title}: {pluralize(len(replicas), 'replica')}, {wrong} not in sync"
    more = () if health is None else (_HEALTH,)
    ends = [()] * len(replicas) if health is None else [(text,) for text in health]

    def build_table(chosen: Sequence[Column]) -> Table:
        cells = zip(build_cells(replicas, chosen), ends, strict=True)
        return Table(heading, (*chosen, *more), [[*row, *end] for row, end in cells])

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
            **(
                {column.key: replica.detail.get(column.key) for column in _PROGRESS}
                if replica.consumer
                else {}
            ),
            "cluster": replica.detail.get("cluster"),
            **({"health": health[index]} if health is not None else {}),
        }
        data.append(record)
    return Result([build_table(columns)], data=data, table=build_table(filed))
