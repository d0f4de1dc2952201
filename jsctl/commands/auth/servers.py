"""The state of an operator and its accounts on servers, for verbs that compare it with the store."""

from collections.abc import Iterable

from jsctl.auth.resolver import Trust, fetch_account_jwts, fetch_trust
from jsctl.auth.store import AuthStore
from jsctl.commands.cli import declare_all, option
from jsctl.commands.operators.system import connect_to_system
from jsctl.env import Env
from jsctl.monitor.server.requests import count_servers

servers_flags = declare_all(
    option("--servers", is_flag=True, help="Ask the servers, too, with the system account"),
    option(
        "--as-system",
        is_flag=True,
        help="With --servers: log in as a temporary user of the system account",
    ),
)
"""Adds --servers and --as-system."""


async def ask_servers(
    env: Env, store: AuthStore, accounts: Iterable[str], *, as_system: bool
) -> tuple[list[Trust], dict[str, str]]:
    """Return the operator that each server trusts, and the newest JWT of each account by its public key;
    empty when no server has the account. accounts: public keys.

    Raises Denied if the login is not of the system account, and the errors of connecting.
    """
    connection = await connect_to_system(env, store, as_system=as_system)
    count = await count_servers(connection)
    tokens = await fetch_account_jwts(connection, accounts, count)
    return await fetch_trust(connection, count), tokens
