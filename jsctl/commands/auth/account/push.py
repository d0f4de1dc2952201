"""`jsctl auth account push`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jsctl.auth.claims import as_object
from jsctl.auth.environment import read_claims
from jsctl.auth.records import Account, has_jetstream
from jsctl.auth.resolver import (
    ONLY_THERE,
    Difference,
    Outcome,
    compare,
    delete_accounts,
    fetch_account_jwts,
    list_foreign_accounts,
)
from jsctl.auth.store import AuthStore
from jsctl.base.units import pluralize
from jsctl.commands.cli import command, destructive, option
from jsctl.commands.declared.account_holdings import measure_account
from jsctl.commands.operators.pushing import (
    Sent,
    check_accounts,
    refuse_unseen,
    refuse_untrusted,
    send_accounts,
)
from jsctl.commands.operators.system import connect_to_system
from jsctl.commands.options.data_loss import (
    Losing,
    LossOptions,
    loss_flags,
    refuse_unasked_loss,
    say_unasked_loss,
)
from jsctl.commands.options.protection import refuse_protected
from jsctl.commands.picking.auth import account_argument, operator_option, pick_account, pick_operator
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.requests import count_servers
from jsctl.nats.connection import Connection
from jsctl.views.auth import push as view
from jsctl.views.intent import Intent
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
    permits: LossOptions
    force: bool

    def __post_init__(self) -> None:
        if self.all and self.account:
            raise BadInput("--all cannot be used with names of accounts", "leave out one of them")
        if self.prune and self.account:
            raise BadInput("--prune applies to all accounts", "use --all instead of names")


@command(
    "push",
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
    "--diff",
    is_flag=True,
    help="Only show what differs from the servers, without sending it; exit with 2 if anything does",
)
@option(
    "--prune", is_flag=True, help="Remove accounts from the servers that the store does not have; with --all"
)
@option("--show", is_flag=True, help="Show the JWTs that are sent")
@option(
    "--as-system", is_flag=True, help="Log in as a temporary user of the system account, not with the context"
)
@loss_flags
@destructive(
    "Send accounts that have errors or are older than those on the servers; prune without asking",
    "Check everything, but only show what would be sent and removed",
)
async def push(env: Env, options: Options) -> Result:
    """Send the accounts to all servers, which need a full resolver: jsctl auth operator config.

    Without a login, or if the selected context belongs to another account, jsctl logs in as a temporary user
    of the system account; without --server and context, it uses the operator's service URLs. Accounts are
    checked first. An account that goes, or that loses JetStream, takes its streams along: that needs
    --allow-data-loss if there are messages in them.
    """
    store = await pick_operator(env, options.operator)
    accounts = await _choose_accounts(env, store, options)
    if not options.diff:
        check_accounts(env, store, accounts, force=options.force)
    connection = await connect_to_system(env, store, as_system=options.as_system)
    servers = await count_servers(connection)
    remote = await fetch_account_jwts(connection, (account.public for account in accounts), servers)
    differences = [
        compare(
            account, remote[account.public], is_known=store.has_seen(account.public, remote[account.public])
        )
        for account in accounts
    ]
    surplus = []
    if options.prune or (options.diff and options.all):
        foreign = await list_foreign_accounts(connection, store, servers)
        surplus = [Difference("", public, ONLY_THERE) for public in foreign]
    if options.diff:
        return view.differences([*differences, *surplus])
    if not options.force:
        refuse_unseen(differences)
        await refuse_untrusted(connection, accounts, servers)
    tokens = {account.name: account.token for account in accounts} if options.show else {}
    env.announce(view.push_intent(accounts, differences, surplus, servers))
    await _refuse_losses(env, connection, options, _list_cut_off(accounts, remote, surplus), servers)
    outcomes: list[Sent] = []
    await send_accounts(env, store, connection, accounts, servers, outcomes)
    removed: Sequence[Outcome] = ()
    if surplus:
        keys = [change.public for change in surplus]
        description = f"{pluralize(len(keys), 'account')} from the servers"
        await env.confirm(Intent(f"remove {description}", {"accounts": keys}), force=options.force)
        removed = await delete_accounts(connection, store, keys, servers)
    return view.outcomes(outcomes, servers, tokens, [change.public for change in surplus], removed)


async def _choose_accounts(env: Env, store: AuthStore, options: Options) -> list[Account]:
    if options.all or options.prune:
        return store.read_accounts()
    if options.account:
        return [await pick_account(env, store, name) for name in options.account]
    return [await pick_account(env, store)]


def _list_cut_off(
    accounts: Sequence[Account], remote: Mapping[str, str], surplus: Sequence[Difference]
) -> dict[str, str]:
    """Return the accounts that go, or that lose JetStream: names by key. remote: JWTs on servers, by key."""
    return {change.public: change.public for change in surplus} | {
        account.public: account.name
        for account in accounts
        if has_jetstream(as_object(read_claims(remote[account.public]).get("nats")))
        and not has_jetstream(account.nats)
    }


async def _refuse_losses(
    env: Env, connection: Connection, options: Options, names: Mapping[str, str], servers: int
) -> None:
    """Raise JsctlError if nobody reaches messages of these accounts any more, unless flags permit it.
    names: by key."""
    holdings = [await measure_account(connection, public, servers) for public in names]
    infos = [{"config": config} for holding in holdings for config in holding.configs]
    refuse_protected(infos, options.permits.unprotect)
    losing = [
        Losing(f"account {name}", {}, holding.loss, "cut off")
        for name, holding in zip(names.values(), holdings, strict=True)
    ]
    allow = options.permits.allow_data_loss
    refuse_unasked_loss(env, losing, force=options.force, allow=allow, needs_force=False)
    say_unasked_loss(env, losing, force=options.force)
