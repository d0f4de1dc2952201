"""`server stream-check` and `server consumer-check`: replicas side by side."""

from collections.abc import Sequence
from typing import Any

from jsctl.monitor.server.replicas import Replica, read_position
from jsctl.units import format_count, pluralize
from jsctl.views.result import Cell, Column, Result, Table

Json = dict[str, Any]

_STATE = (
    ("messages", "messages", "count"),
    ("bytes", "bytes", "bytes"),
    ("subjects", "num_subjects", "count"),
    ("deleted", "num_deleted", "count"),
    ("consumers", "consumer_count", "count"),
    ("first", "first_seq", "count"),
    ("last", "last_seq", "count"),
)
"""Columns of a stream: their key, that in the state, and their kind."""

_OWNER = (Column("Raft", "raft_group"), Column("Account", "account"), Column("Node", "server"))
_END = (Column("Status", "status"), Column("Leader", "leader"), Column("Peers", "peers"))
_HEALTH = Column("Health", "health")
_STREAMS = (
    Column("Stream", "stream"),
    *_OWNER,
    *(Column(key.title(), key, kind) for key, _, kind in _STATE),  # type: ignore[arg-type]
    *_END,
)
_CONSUMERS = (
    Column("Consumer", "consumer"),
    Column("Stream", "stream"),
    *_OWNER,
    Column("Delivered (S, C)", "delivered"),
    Column("Ack Floor (S, C)", "ack_floor"),
    Column("Ack Pending", "num_ack_pending", "count"),
    Column("Redelivered", "num_redelivered", "count"),
    Column("Waiting", "num_waiting", "count"),
    Column("Pending", "num_pending", "count"),
    *_END,
)
_SPARE = ("deleted", "subjects", "bytes", "consumers", "raft_group", "peers", "first", "account", "leader")
_CONSUMER_SPARE = (
    "num_waiting",
    "num_redelivered",
    "raft_group",
    "peers",
    "num_pending",
    "num_ack_pending",
    "account",
    "leader",
)


def streams(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of streams. health: that of each; None when it was not asked for."""
    rows = [
        [
            replica.name,
            *_build_owner(replica),
            *(int((replica.detail.get("state") or {}).get(key, 0)) for _, key, _ in _STATE),
            *_end(replica),
        ]
        for replica in replicas
    ]
    return _build_result("Streams", _STREAMS, rows, replicas, health, _SPARE)


def consumers(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of consumers. health: that of each; None when it was not asked for."""
    rows = []
    for replica in replicas:
        state = replica.stream.get("state") or {}
        last = int(state.get("last_seq", 0))
        delivered, floor = (
            read_position(replica.detail, "delivered"),
            read_position(replica.detail, "ack_floor"),
        )
        progress = f" of {format_count(last)}" if last else ""
        counts = [int(replica.detail.get(column.key, 0)) for column in _CONSUMERS[7:11]]
        rows.append(
            [
                replica.consumer,
                replica.name,
                *_build_owner(replica),
                f"{format_count(delivered[0])}{progress}, {format_count(delivered[1])}",
                f"{format_count(floor[0])}, {format_count(floor[1])}",
                *counts,
                *_end(replica),
            ]
        )
    return _build_result("Consumers", _CONSUMERS, rows, replicas, health, _CONSUMER_SPARE)


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
    spare: Sequence[str],
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
            "in_sync": replica.synced,
            "statuses": list(replica.statuses),
            "state": (replica.stream or replica.detail).get("state") or {},
            **({key: replica.detail.get(key) for key in _CONSUMER_KEYS} if replica.consumer else {}),
            "cluster": replica.detail.get("cluster"),
            **({"health": health[index]} if health is not None else {}),
        }
        data.append(record)
    return Result([Table(heading, columns, rows, spare=spare)], data=data)


_CONSUMER_KEYS = (
    "delivered",
    "ack_floor",
    "num_ack_pending",
    "num_redelivered",
    "num_waiting",
    "num_pending",
)
