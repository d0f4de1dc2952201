"""What accounts that apply removes hold on servers: streams that nobody reaches any more without them."""

from collections.abc import Sequence

from jsctl.auth.declared.plan import UNKNOWN_HOLDING, Holding
from jsctl.auth.records import Record
from jsctl.auth.resolver import fetch_trust
from jsctl.auth.store import AuthStore
from jsctl.commands.operators.system import connect_to_system
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.data_loss import UNKNOWN, DataLoss, Precision
from jsctl.monitor.server.requests import count_servers, ping
from jsctl.nats.connection import Connection


async def measure_accounts(
    env: Env,
    store: AuthStore,
    accounts: Sequence[Record],
    connection: Connection | None,
    warnings: list[str],
) -> dict[str, Holding]:
    """Return what accounts hold, by public key; unknown where no server can be asked.

    connection: a login to the system account; None to connect as the context says, or as the store signs.
    warnings: says why it is unknown.
    """
    try:
        if accounts and connection is None:
            system = store.read_operator().system_account
            connection = await connect_to_system(env, store, as_system=store.has_seed(system))
        return {
            account.public: await _measure(connection, account)
            for account in accounts
            if connection is not None
        }
    except JsctlError as error:
        names = ", ".join(account.name for account in accounts)
        warnings.append(f"what account {names} holds is unknown: {error.message}")
        return {account.public: UNKNOWN_HOLDING for account in accounts}


async def _measure(connection: Connection, account: Record) -> Holding:
    """Return what an account holds on the servers of its operator. Raises JsctlError for other servers."""
    servers = await count_servers(connection)
    if not any(account.issuer in trust.keys for trust in await fetch_trust(connection, servers)):
        raise JsctlError("the servers do not have its operator")
    return await measure_account(connection, account.public, servers)


async def measure_account(connection: Connection, public: str, servers: int) -> Holding:
    """Return what an account holds. public: its key. servers: how many answer; 0 if unknown."""
    body = {"account": public, "streams": True, "config": True}
    replies = [reply.get("data") or {} for reply in await ping(connection, "JSZ", body, expect=servers)]
    streams: dict[tuple[str, str], tuple[int, int]] = {}
    configs: dict[tuple[str, str], Json] = {}
    for data in replies:
        domain = str((data.get("config") or {}).get("domain") or "")
        for details in data.get("account_details") or ():
            for stream in details.get("stream_detail") or ():
                state = stream.get("state") or {}
                size = int(state.get("messages") or 0), int(state.get("bytes") or 0)
                key = domain, str(stream.get("name"))
                streams[key] = max(size, streams.get(key, (0, 0)))
                configs[key] = stream.get("config") or {"name": key[1]}
    loss = DataLoss(sum(size[0] for size in streams.values()), sum(size[1] for size in streams.values()))
    if any(
        peer.get("offline")
        for data in replies
        for peer in (data.get("meta_cluster") or {}).get("replicas") or ()
    ):
        loss = loss._replace(precision=Precision.AT_LEAST) if loss else UNKNOWN
    return Holding(len(streams), loss, list(configs.values()))
