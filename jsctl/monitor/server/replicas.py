"""The replicas of streams and consumers side by side, as each server has them (JSZ)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput

Json = dict[str, Any]

IN_SYNC = "IN SYNC"
_HARMLESS = ("EMPTY",)  #: statuses that are not faults


class Replica(NamedTuple):
    """A stream, or a consumer, on one server.

    consumer: empty for a stream. detail: the server's report of it. stream: its report of a consumer's
    stream. statuses: IN SYNC, or what is wrong. leader: the server that it considers the leader. leading: the
    leader's report; empty for the leader's own, and when none leads.
    """

    account: str
    account_id: str
    name: str
    consumer: str
    group: str
    server: str
    server_id: str
    detail: Json
    stream: Json
    leader: str
    statuses: tuple[str, ...]
    leading: Json

    @property
    def stream_leader(self) -> str:
        """The server that leads a consumer's stream."""
        return str((self.stream.get("cluster") or {}).get("leader") or "")

    @property
    def leads(self) -> bool:
        """Whether this server considers itself the leader."""
        return bool(self.leader) and self.leader == self.server

    @property
    def synced(self) -> bool:
        """Whether nothing is wrong."""
        return all(status == IN_SYNC or status in _HARMLESS for status in self.statuses)


def parse_replies(text: str) -> list[Json]:
    """Parse what `server request jetstream --all --config` wrote: one list, or a document per line.

    Raises BadInput.
    """
    try:
        if text.lstrip().startswith("["):
            replies = parse_json(text)
        else:
            replies = [parse_json(line) for line in text.splitlines() if line.strip()]
        if not replies or not all(isinstance(reply, dict) and "server" in reply for reply in replies):
            raise ValueError("it holds no answers of servers")
    except ValueError as error:
        raise BadInput(
            f"standard input is not valid: {error}",
            "it takes what jsctl server request jetstream --all prints",
        ) from None
    return list(replies)


def list_stream_replicas(replies: Sequence[Json]) -> list[Replica]:
    """Return the streams of all servers in answers to JSZ, by account, name, group and server."""
    replicas = [
        _build_replica(reply, account, stream, {}, _get_group(stream), stream)
        for reply, account, stream in _list_streams(replies)
    ]
    return _add_statuses(replicas, _find_stream_faults)


def list_consumer_replicas(replies: Sequence[Json]) -> list[Replica]:
    """Return the consumers of all servers in answers to JSZ, by account, stream, name, group and server."""
    replicas = []
    for reply, account, stream in _list_streams(replies):
        groups = {
            raft_group.get("name"): raft_group.get("raft_group", "")
            for raft_group in stream.get("consumer_raft_groups") or ()
        }
        for consumer in stream.get("consumer_detail") or ():
            group = groups.get(consumer.get("name")) or _get_group(consumer)
            replicas.append(_build_replica(reply, account, consumer, stream, group, stream))
    return _add_statuses(replicas, _find_consumer_faults)


def _list_streams(replies: Sequence[Json]) -> Iterator[tuple[Json, Json, Json]]:
    for reply in replies:
        for account in (reply.get("data") or {}).get("account_details") or ():
            for stream in account.get("stream_detail") or ():
                yield reply, account, stream


def _get_group(detail: Json) -> str:
    cluster = detail.get("cluster") or {}
    return str(detail.get("stream_raft_group") or detail.get("raft_group") or cluster.get("raft_group") or "")


def _build_replica(
    reply: Json, account: Json, detail: Json, parent: Json, group: str, stream: Json
) -> Replica:
    return Replica(
        account=str(account.get("name", "")),
        account_id=str(account.get("id", "")),
        name=str(stream.get("name", "")),
        consumer=str(detail.get("name", "")) if parent else "",
        group=group,
        server=str(reply["server"].get("name", "")),
        server_id=str(reply["server"].get("id", "")),
        detail=detail,
        stream=parent,
        leader=str((detail.get("cluster") or {}).get("leader") or ""),
        statuses=(),
        leading={},
    )


def _add_statuses(replicas: Sequence[Replica], find_faults: Any) -> list[Replica]:
    """Return the replicas, each with its faults compared with the others of its group."""
    groups: dict[tuple[str, ...], list[Replica]] = {}
    for replica in replicas:
        # Without a group, the server is not in a cluster and has the only replica.
        key = (replica.account, replica.name, replica.consumer, replica.group or replica.server_id)
        groups.setdefault(key, []).append(replica)
    checked = []
    for _, peers in sorted(groups.items()):
        leading = next((peer.detail for peer in peers if peer.leads), {})
        for replica in sorted(peers, key=lambda replica: replica.server):
            statuses = tuple(dict.fromkeys(find_faults(replica, peers)))
            checked.append(
                replica._replace(
                    statuses=statuses or (IN_SYNC,), leading={} if replica.detail is leading else leading
                )
            )
    return checked


def _find_group_faults(replica: Replica, peers: Sequence[Replica]) -> Iterator[str]:
    """Yield what is wrong with the group, for streams and consumers."""
    cluster = replica.detail.get("cluster")
    if not cluster:
        if len(peers) > 1:
            yield "NO_CLUSTER"
        return
    if not cluster.get("leader"):
        # A group of one reports a leader only where it leads; a server outside of a cluster needs none.
        if cluster.get("replicas") or replica.group:
            yield "LEADERLESS"
    elif any(peer.leader and peer.leader != replica.leader for peer in peers):
        yield "MULTILEADER"
    if replica.leads and any(peer.get("name") == replica.leader for peer in cluster.get("replicas") or ()):
        yield "LEADER_IS_FOLLOWER"


def _find_stream_faults(replica: Replica, peers: Sequence[Replica]) -> Iterator[str]:
    yield from _find_group_faults(replica, peers)
    state = replica.detail.get("state") or {}
    for peer in peers:
        other = peer.detail.get("state") or {}
        if any(state.get(key) != other.get(key) for key in ("messages", "bytes", "first_seq", "last_seq")):
            yield "UNSYNCED"


def _find_consumer_faults(replica: Replica, peers: Sequence[Replica]) -> Iterator[str]:
    yield from _find_group_faults(replica, peers)
    delivered, floor = read_position(replica.detail, "delivered"), read_position(replica.detail, "ack_floor")
    last = int((replica.stream.get("state") or {}).get("last_seq", 0))
    if delivered[0] > last:
        yield "UNSYNCED:DELIVERED_AHEAD_OF_STREAM_SEQ"
    if floor[0] > last:
        yield "UNSYNCED:ACKFLOOR_AHEAD_OF_STREAM_SEQ"
    for peer in peers:
        if read_position(peer.detail, "delivered") != delivered:
            yield "UNSYNCED:DELIVERED"
        if read_position(peer.detail, "ack_floor") != floor:
            yield "UNSYNCED:ACK_FLOOR"
    if 0 in (*delivered, *floor):
        yield "EMPTY"


def read_position(detail: Json, key: str) -> tuple[int, int]:
    """Return the stream sequence and the consumer sequence of `delivered` or `ack_floor`."""
    position = detail.get(key) or {}
    return int(position.get("stream_seq", 0)), int(position.get("consumer_seq", 0))
