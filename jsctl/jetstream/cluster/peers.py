"""The servers that hold a replicated stream."""

from jsctl.errors import ApiError, JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.state import list_peers
from jsctl.nats.error_codes import ErrorCode


def check_in_cluster(info: Json) -> None:
    """Raise JsctlError for a stream that is not in a cluster."""
    if not (info.get("cluster") or {}).get("name"):
        name = info["config"]["name"]
        raise JsctlError(f"stream {name} is not in a cluster", "only streams of a cluster have peers")


def check_removable(info: Json, *, force: bool) -> None:
    """Raise JsctlError for a stream that is not in a cluster, and without `force` for its only peer."""
    check_in_cluster(info)
    name = info["config"]["name"]
    names = list_peers(info)
    if len(names) == 1 and not force:
        raise JsctlError(
            f"{names[0]} is the only peer of stream {name}: removing it loses the data",
            "--force removes it anyway",
        )


def check_peer(info: Json, peer: str) -> None:
    """Raise NotFound for a server that is not a peer of the stream."""
    names = list_peers(info)
    if peer not in names:
        stream = info["config"]["name"]
        raise NotFound(
            f"{peer} is not a peer of stream {stream}", f"its peers are {', '.join(sorted(names))}"
        )


async def remove_peer(api: Api, stream: str, peer: str) -> None:
    """Remove a server from a stream's group; the cluster puts another in its place.

    Raises ApiError, with what to do when there is no other server.
    """
    await _change(api, f"STREAM.PEER.REMOVE.{stream}", peer)


async def evacuate_peer(api: Api, stream: str, peer: str) -> None:
    """Request that a stream and its consumers move off a server; it leaves the group when another server has
    all data (ADR-62).

    Raises ApiError, with what to do when there is no other server.
    """
    await _change(api, f"STREAM.PEER.EVACUATE.{stream}", peer)


async def cancel_move(api: Api, stream: str) -> None:
    """Request that a stream returns to the servers, replicas and retention that it had before they were
    changed (ADR-62). Raises ApiError (STREAM_RECONFIGURE_NOT_IN_PROGRESS)."""
    await api.call(f"STREAM.CANCEL_MOVE.{stream}", {})


def check_consumer_peer(info: Json, peer: str) -> None:
    """Raise JsctlError for a consumer outside of a cluster, NotFound for a server that is not its peer."""
    consumer = f"{info['stream_name']} > {info['name']}"
    names = list_peers(info)
    if not names or not (info.get("cluster") or {}).get("name"):
        raise JsctlError(f"consumer {consumer} is not in a cluster", "only a cluster has peers")
    if peer not in names:
        raise NotFound(
            f"{peer} is not a peer of consumer {consumer}", f"its peers are {', '.join(sorted(names))}"
        )


async def evacuate_consumer(api: Api, stream: str, consumer: str, peer: str) -> None:
    """Request that a consumer move off a server (ADR-62). Raises ApiError, as `evacuate_peer`."""
    await _change(api, f"CONSUMER.PEER.EVACUATE.{stream}.{consumer}", peer)


async def forget_consumer_peer(api: Api, stream: str, consumer: str, peer: str) -> None:
    """Remove a server from a consumer's group, which need not have joined it, if it is in it (ADR-62)."""
    try:
        await _change(api, f"CONSUMER.PEER.REMOVE.{stream}.{consumer}", peer)
    except ApiError as error:
        if error.err_code != ErrorCode.CLUSTER_PEER_NOT_MEMBER:
            raise


async def _change(api: Api, subject: str, peer: str) -> None:
    try:
        await api.call(subject, {"peer": peer})
    except ApiError as error:
        if error.err_code != ErrorCode.PEER_REMAP:
            raise
        hint = "no other server can take the replica; jsctl stream edit --replicas asks for fewer"
        raise ApiError(error.code, error.err_code, error.description, hint) from None
