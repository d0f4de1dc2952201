"""`server stream-check` and `server consumer-check`: replicas side by side."""

from collections.abc import Sequence
from typing import Any

from jsctl.monitor.server.replicas import Replica, position
from jsctl.units import format_count
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
            one.name,
            *_owner(one),
            *(int((one.detail.get("state") or {}).get(key, 0)) for _, key, _ in _STATE),
            *_end(one),
        ]
        for one in replicas
    ]
    return _result("Streams", _STREAMS, rows, replicas, health, _SPARE)


def consumers(replicas: Sequence[Replica], health: Sequence[str] | None) -> Result:
    """Show the replicas of consumers. health: that of each; None when it was not asked for."""
    rows = []
    for one in replicas:
        state = one.stream.get("state") or {}
        last = int(state.get("last_seq", 0))
        delivered, floor = position(one.detail, "delivered"), position(one.detail, "ack_floor")
        progress = f" of {format_count(last)}" if last else ""
        counts = [int(one.detail.get(column.key, 0)) for column in _CONSUMERS[7:11]]
        rows.append(
            [
                one.consumer,
                one.name,
                *_owner(one),
                f"{format_count(delivered[0])}{progress}, {format_count(delivered[1])}",
                f"{format_count(floor[0])}, {format_count(floor[1])}",
                *counts,
                *_end(one),
            ]
        )
    return _result("Consumers", _CONSUMERS, rows, replicas, health, _CONSUMER_SPARE)


def _owner(one: Replica) -> list[object]:
    return [one.group, one.account, Cell(one.server, one.server + "*" * one.leads)]


def _end(one: Replica) -> list[object]:
    peers = (one.detail.get("cluster") or {}).get("replicas") or []
    text = ", ".join(f"{peer.get('name')} {_condition(peer)}" for peer in peers)
    status = ", ".join(one.statuses)
    return [Cell(status, status, "good" if one.synced else "bad"), one.leader, text]


def _condition(peer: Json) -> str:
    if peer.get("offline"):
        return "offline"
    return "current" if peer.get("current") else "not current"


def _result(
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
    wrong = sum(not one.synced for one in replicas)
    heading = f"{title}: {len(rows)} replicas, {wrong} not in sync"
    data = []
    for at, one in enumerate(replicas):
        record = {
            "stream": one.name,
            **({"consumer": one.consumer} if one.consumer else {}),
            "account": one.account,
            "account_id": one.account_id,
            "raft_group": one.group,
            "server": one.server,
            "leader": one.leader,
            "in_sync": one.synced,
            "statuses": list(one.statuses),
            "state": (one.stream or one.detail).get("state") or {},
            **({key: one.detail.get(key) for key in _CONSUMER_KEYS} if one.consumer else {}),
            "cluster": one.detail.get("cluster"),
            **({"health": health[at]} if health is not None else {}),
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
