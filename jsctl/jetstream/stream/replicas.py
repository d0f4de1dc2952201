"""Replicas of a stream that are gone: made again, if there are servers for them."""

from collections import Counter
from collections.abc import Sequence

from jsctl.errors import ApiError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.schema import without_metadata
from jsctl.jetstream.state import format_migration
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode

WANTED = "jsctl.replicas"
"""Metadata key of a stream that has a lower number of replicas for a moment; the value is the number that it
is to have."""


def count_replicas(info: Json) -> tuple[int, int]:
    """Return how many replicas a stream is to have, and how many there are; the same without a cluster."""
    config, group = info["config"], info.get("cluster") or {}
    wanted = int(config.get("num_replicas") or 1)
    noted = str((config.get("metadata") or {}).get(WANTED, ""))
    if noted in ("2", "3", "4", "5"):
        wanted = max(wanted, int(noted))
    return wanted, 1 + len(group.get("replicas") or ()) if group.get("leader") else wanted


def is_changing(info: Json) -> bool:
    """Return whether servers of a stream copy it or leave it: to what its configuration asks for."""
    group = info.get("cluster") or {}
    wanted, existing = count_replicas(info)
    replicas = group.get("replicas") or ()
    is_copied = any(not replica.get("current") and not replica.get("offline") for replica in replicas)
    return bool(group.get("desired")) or existing > wanted or is_copied or _is_elsewhere(info)


def describe_unsettled(info: Json) -> str:
    """Return what a stream lacks of the servers that its configuration asks for; empty if all have it and are
    current, or in no cluster."""
    group = info.get("cluster") or {}
    if not group.get("name"):
        return ""
    wanted, existing = count_replicas(info)
    if migration := format_migration(info):
        return migration
    if not group.get("leader"):
        return "it has no leader"
    if _is_elsewhere(info):
        return f"it is in cluster {group['name']}"
    if existing != wanted:
        return "replicas are being added" if existing < wanted else "replicas are being removed"
    replicas = group.get("replicas") or ()
    states = ("is offline" if each.get("offline") else "is not current" for each in replicas)
    behind = (
        f"replica {each['name']} {state}"
        for each, state in zip(replicas, states, strict=True)
        if each.get("offline") or not each.get("current")
    )
    return next(behind, "")


def _is_elsewhere(info: Json) -> bool:
    """Return whether a stream is in another cluster than its placement names."""
    cluster = (info["config"].get("placement") or {}).get("cluster")
    return bool(cluster) and (info.get("cluster") or {}).get("name") not in (None, "", cluster)


def fits_placement(server: Json, config: Json) -> bool:
    """Return whether a server may hold replicas of a stream. server: as in `list_free_servers`."""
    placement = config.get("placement") or {}
    is_there = placement.get("cluster") in (None, "", server.get("cluster"))
    fits = _fits(server.get("tags") or (), placement.get("tags") or ())
    return bool(server.get("jetstream")) and is_there and fits


def list_free_servers(info: Json, servers: Sequence[Json]) -> list[str]:
    """Return the names of servers that can hold a further replica of a stream.

    servers: what they say of themselves, as they answer to STATZ: {"name", "cluster", "jetstream", "tags"}.
    """
    group = info.get("cluster") or {}
    holders = {group.get("leader"), *(replica.get("name") for replica in group.get("replicas") or ())}
    wanted = (info["config"].get("placement") or {}).get("tags") or ()
    return [
        str(server.get("name"))
        for server in servers
        if server.get("jetstream") and server.get("cluster") == group.get("name")
        if server.get("name") not in holders and _fits(server.get("tags") or (), wanted)
    ]


def find_shortage(config: Json, servers: Sequence[Json]) -> str:
    """Return why servers cannot hold a stream's replicas; empty if they can, as those in no cluster, which
    ignore a placement. servers: as in `list_free_servers`."""
    if not any(server.get("cluster") for server in servers):
        return ""
    wanted, placement = int(config.get("num_replicas") or 1), config.get("placement") or {}
    cluster, tags = str(placement.get("cluster") or ""), placement.get("tags") or ()
    counts = Counter(str(server.get("cluster") or "") for server in servers if fits_placement(server, config))
    most = max(counts.values(), default=0)
    if most >= wanted:
        return ""
    where = f" of cluster {cluster}" if cluster else ""
    tagged = f" with the tags {', '.join(tags)}" if tags else ""
    need = "1 replica needs a server" if wanted == 1 else f"{wanted} replicas need as many servers"
    return f"{need}, and {most} answer{where}{tagged}"


def _fits(tags: Sequence[str], wanted: Sequence[str]) -> bool:
    own = {str(tag).lower() for tag in tags}
    return all((tag.lower().removeprefix("!") in own) != tag.startswith("!") for tag in wanted)


async def make_again(api: Api, info: Json) -> Json:
    """Make the missing replicas of a stream; return its info.

    A server makes some only when the number changes, and so it is lowered for a moment. Until it is raised
    again, the stream's metadata has the number that it is to have: what is interrupted there is found, and
    ended by the same line. Raises ApiError.
    """
    wanted, existing = count_replicas(info)
    config = without_metadata(info["config"], lambda key: key == WANTED)
    noted = {**(config.get("metadata") or {}), WANTED: str(wanted)}
    await streams.update(api, {**config, "num_replicas": existing, "metadata": noted})
    try:
        return await streams.update(api, {**config, "num_replicas": wanted})
    except ApiError as error:
        if error.err_code != ErrorCode.CLUSTER_NO_PEERS:
            raise
        hint = (
            f"start a server that can hold a replica of {config['name']} (one that was removed needs a new"
            f" name), and repeat the command; until then it is configured for {existing}"
        )
        raise ApiError(error.code, error.err_code, error.description, hint) from None
