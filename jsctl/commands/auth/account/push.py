"""`jsctl auth account push`."""

from collections.abc import Sequence
from dataclasses import dataclass

from jsctl.auth.check import check_for_push
from jsctl.auth.environment import read_environment
from jsctl.auth.records import Record
from jsctl.auth.resolver import (
    NEWER,
    ONLY_THERE,
    Difference,
    Outcome,
    compare,
    count_servers,
    delete_accounts,
    fetch_trust,
    list_accounts,
    lookup_account,
    push_account,
)
from jsctl.auth.store import AuthStore
from jsctl.commands.auth.choose import account_argument, operator_option, pick_account, pick_operator
from jsctl.commands.auth.system import system_connection
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.nats.connection import Connection
from jsctl.views.auth import push as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    account: tuple[str, ...]
    operator: str
    all: bool
    diff: bool
    prune: bool
    show: bool
    as_system: bool
    force: bool

    def __post_init__(self) -> None:
        if self.all and self.account:
            raise BadInput("--all cannot be used with names of accounts")
        if self.prune and self.account:
            raise BadInput("--prune is for all accounts", "give --all instead of names")


@command(
    "push",
    options=Options,
    examples=[
        "jsctl auth account push ORDERS",
        "jsctl auth account push --all --diff",
        "jsctl auth account push --all --prune --server nats://n1:4222",
    ],
)
@account_argument(nargs=-1, default=None)
@operator_option()
@option("--all", is_flag=True, help="All accounts of the operator")
@option(
    "--diff", is_flag=True, help="Show what differs from the servers, and send nothing; exits with 2 then"
)
@option(
    "--prune", is_flag=True, help="Remove accounts from the servers that the store does not have; with --all"
)
@option("--show", is_flag=True, help="Show the JWTs that are sent")
@option(
    "--as-system", is_flag=True, help="Log in as a temporary user of the system account, whatever the context"
)
@option(
    "--force",
    "-f",
    is_flag=True,
    help="Send accounts that are wrong, or older than those on the servers; prune without asking",
)
async def push(env: Env, options: Options) -> Result:
    """To all servers, which need a full resolver: jsctl auth operator config.

    Without a login, the store signs a temporary user of the system account; without --server and context,
    the operator's service URLs are used. Accounts are checked before.
    """
    store = await pick_operator(env, options.operator)
    accounts = await _choose(env, store, options)
    if not options.diff:
        _check(env, store, accounts, force=options.force)
    connection = await system_connection(env, store, as_system=options.as_system)
    servers = await count_servers(connection)
    differences = [
        compare(account, await lookup_account(connection, account.public, servers)) for account in accounts
    ]
    surplus = (
        await _surplus(connection, store, servers) if options.prune or (options.diff and options.all) else []
    )
    if options.diff:
        return view.differences([*differences, *surplus])
    if not options.force:
        _refuse_older(differences)
        await _refuse_untrusted(connection, accounts, servers)
    tokens = {account.name: account.token for account in accounts} if options.show else {}
    outcomes: list[tuple[str, str, Outcome]] = []
    with env.progress("Pushing", len(accounts)) as advance:
        for account in accounts:
            sent = await push_account(connection, account, servers)
            outcomes += [(account.name, account.public, outcome) for outcome in sent]
            if not sent:
                outcomes.append((account.name, account.public, Outcome("", "no server answered")))
            advance(1)
    removed: Sequence[Outcome] = ()
    if surplus:
        keys = [one.public for one in surplus]
        await env.confirm(f"Really remove {len(keys)} accounts from the servers?", force=options.force)
        removed = await delete_accounts(connection, store, keys, servers)
    return view.outcomes(outcomes, servers, tokens, [one.public for one in surplus], removed)


async def _choose(env: Env, store: AuthStore, options: Options) -> list[Record]:
    if options.all or options.prune:
        return store.read_accounts()
    if options.account:
        return [await pick_account(env, store, name) for name in options.account]
    return [await pick_account(env, store)]


def _check(env: Env, store: AuthStore, accounts: Sequence[Record], *, force: bool) -> None:
    """Show what is wrong with accounts. Raises JsctlError for errors, unless `force`."""
    environment = read_environment(store.root, store.operator)
    errors = 0
    for account in accounts:
        for finding in check_for_push(environment, account.name, now=env.clock()):
            errors += finding.severity == "error"
            env.say(f"jsctl: {finding.severity}: {finding.where}: {finding.message}; {finding.fix}")
    if errors and not force:
        count = "1 error" if errors == 1 else f"{errors} errors"
        raise JsctlError(f"nothing was pushed, there is {count}", "fix it as described, or give --force")


def _refuse_older(differences: Sequence[Difference]) -> None:
    newer = [one.account for one in differences if one.state == NEWER]
    if newer:
        raise JsctlError(
            f"servers have a newer JWT of {', '.join(newer)}",
            "jsctl auth account pull --save fetches it, --force replaces it",
        )


async def _refuse_untrusted(connection: Connection, accounts: Sequence[Record], servers: int) -> None:
    """Raise JsctlError where a server's operator does not know the key that signed an account."""
    for trust in await fetch_trust(connection, servers):
        for account in accounts:
            if account.issuer not in trust.keys:
                raise JsctlError(
                    f"server {trust.server} has an operator without the key that signed {account.name}",
                    "give it the operator's new JWT with jsctl auth operator config, and reload it",
                )


async def _surplus(connection: Connection, store: AuthStore, servers: int) -> list[Difference]:
    known = {account.public for account in store.read_accounts()}
    return [
        Difference("", public, ONLY_THERE)
        for public in await list_accounts(connection, servers)
        if public not in known
    ]
