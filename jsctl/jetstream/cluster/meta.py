"""The meta group of a JetStream domain: its leader, its servers, the assets of accounts.

The requests need a login of the system account (server/jetstream_api.go: JSApiLeaderStepDown,
JSApiRemoveServer, JSApiAccountPurge).
"""

from collections.abc import Awaitable, Callable, Sequence

from jsctl.errors import NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.cluster.leaders import RaftGroup


def build_meta_group(
    api: Api, fetch: Callable[[], Awaitable[Json]], *, cluster: str, tags: Sequence[str]
) -> RaftGroup:
    """Return the meta group. fetch: returns its state {"leader", "replicas"}. cluster, tags: where the next
    leader should be."""

    async def fetch_info() -> Json:
        return {"cluster": await fetch()}

    async def step_down(preferred: str) -> None:
        placement = {"cluster": cluster, "tags": list(tags), "preferred": preferred}
        placement = {key: value for key, value in placement.items() if value}
        await api.call("META.LEADER.STEPDOWN", {"placement": placement} if placement else {})

    return RaftGroup("meta", "the meta group", fetch_info, step_down)


async def remove_server(api: Api, meta: Json, server: str) -> None:
    """Remove a server that is offline from the meta group. server: its name or ID.

    Raises NotFound when it is not in the group.
    """
    peer = check_follower(meta, server)
    await api.call("SERVER.REMOVE", {"peer": peer.get("name", ""), "peer_id": peer.get("peer", "")})


def check_follower(meta: Json, server: str) -> Json:
    """Return a follower of the meta group. server: its name or ID. Raises NotFound."""
    for peer in meta.get("replicas") or ():
        if server in (peer.get("name"), peer.get("peer")):
            return dict(peer)
    names = ", ".join(str(peer.get("name") or peer.get("peer")) for peer in meta.get("replicas") or ())
    raise NotFound(
        f"{server!r} is not a follower of the meta group",
        f"these are: {names}; the leader cannot be removed" if names else "it has no followers",
    )


async def evacuate_server(api: Api, server: str) -> None:
    """Request that all streams and consumers move off a server. server: its name or the ID of its peer
    (ADR-62)."""
    await api.call("SERVER.EVACUATE", {"peer": server})


async def purge_account(api: Api, account: str) -> None:
    """Remove all streams and consumers of an account from the domain; this cannot be undone."""
    await api.call(f"ACCOUNT.PURGE.{account}", {})
