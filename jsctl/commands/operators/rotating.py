"""What `auth keys rotate` does with servers: what they have, what is sent to them, and who is connected."""

from collections.abc import Sequence

from jsctl.auth.claims import as_object
from jsctl.auth.environment import read_claims
from jsctl.auth.records import Account
from jsctl.auth.resolver import compare, fetch_account_jwts, list_accounts
from jsctl.auth.rotation import Rotation, Unreached, differs_elsewhere, find_imports_by_key
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.operators.pushing import (
    Sent,
    refuse_failures,
    refuse_unseen,
    refuse_untrusted,
    send_accounts,
)
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.monitor.server.reports import build_connection_request, build_connection_rows
from jsctl.monitor.server.requests import STATSZ, fetch_servers, ping
from jsctl.nats.connection import Connection


async def count_all_servers(connection: Connection) -> int:
    """Return the number of servers. Raises JsctlError if one that others know does not answer: it would not
    get the new key, and who is connected to it is not known."""
    answers = await fetch_servers(connection, subject=STATSZ)
    known = max(int(answer.get("statsz", {}).get("active_servers", 0)) for answer, _ in answers)
    if len(answers) < known:
        raise JsctlError(
            f"only {len(answers)} of {pluralize(known, 'server')} answer",
            "run this again when all do; one that was stopped counts for 2.5 minutes",
        )
    return len(answers)


async def refuse_unpushed(
    store: AuthStore, connection: Connection, accounts: Sequence[Account], rotation: Rotation, servers: int
) -> None:
    """Raise JsctlError if accounts differ from those on servers in more than the keys of a rotation, which
    would send that, too."""
    remote = await fetch_account_jwts(connection, (account.public for account in accounts), servers)
    refuse_unseen(
        [
            compare(
                account,
                remote[account.public],
                is_known=store.has_seen(account.public, remote[account.public]),
            )
            for account in accounts
        ]
    )
    differing = [
        account.name
        for account in accounts
        if differs_elsewhere(
            account.nats, as_object(read_claims(remote[account.public]).get("nats")), rotation
        )
    ]
    if differing:
        raise JsctlError(
            f"servers do not have {', '.join(differing)} as the store has",
            f"{build_line('auth account push', *differing, flags=['--diff'])} shows how; push them first",
        )


async def push_accounts(
    env: Env, store: AuthStore, connection: Connection, names: Sequence[str], servers: int
) -> None:
    """Send accounts to all servers. Raises JsctlError if one does not take them."""
    accounts = [store.read_account(name) for name in names]
    await refuse_untrusted(connection, accounts, servers)
    sent: list[Sent] = []
    await send_accounts(env, store, connection, accounts, servers, sent)
    refuse_failures(sent, accounts, servers, _AGAIN)


_AGAIN = "run the command again, which continues"


async def fetch_users_of_key(connection: Connection, account: str, key: str, servers: int) -> list[Json]:
    """Return the client connections of an account whose users a key signed, but for our own. Raises
    JsctlError unless all servers answer."""
    replies = await ping(connection, "CONNZ", build_connection_request(account=account), expect=servers)
    if len(replies) < servers:
        raise JsctlError(
            f"only {len(replies)} of {pluralize(servers, 'server')} say who is connected", _AGAIN
        )
    info = connection.server_info
    own = info.get("server_id"), info.get("client_id")
    return [
        row
        for row in build_connection_rows(replies)
        if row.get("issuer_key") == key and (row["server"]["id"], row.get("cid")) != own
    ]


async def list_imports_by_key(
    store: AuthStore, connection: Connection, account: Account, key: str, servers: int
) -> list[Unreached]:
    """Return the imports from an account, in the store or on servers, whose activation token a key signed:
    they end when the account does not have the key any more (nats-server: checkActivation)."""
    if not any(export.get("token_req") for export in account.exports):
        return []
    served = await fetch_account_jwts(connection, await list_accounts(connection, servers), servers)
    return [Unreached("", "", reason) for reason in find_imports_by_key(store, account, key, served.values())]
