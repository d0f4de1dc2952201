"""`jsctl auth account revocations`."""

import copy

from jsctl.auth.changes import change_account
from jsctl.auth.claims import ALL
from jsctl.auth.records import Record
from jsctl.auth.revocations import Revocation, add_revocation, find_key, list_revocations, remove_revocation
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND, format_time, parse_past_time, seconds_to_ns
from jsctl.commands.cli import argument, command, destructive, dry_run_flag, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import Intent
from jsctl.views.result import Cell, Column, Result, Table

_COLUMNS = (
    Column("Kind", "kind"),
    Column("Export", "export", optional=True),
    Column("Name", "name"),
    Column("Key", "key"),
    Column("Signed until", "until", "time"),
)


def _show_list(store: AuthStore, account: Record) -> Result:
    """Show the revocations of an account."""
    names = {user.public: user.name for user in store.load_users(account.name)}
    names |= {other.public: other.name for other in store.load_accounts()} | {ALL: "(all)"}
    rows = [
        (
            "activation" if revocation.export else "user",
            revocation.export,
            names.get(revocation.key, ""),
            revocation.key,
            Cell(revocation.time, format_time(revocation.time * SECOND)),
        )
        for revocation in list_revocations(account.nats)
    ]
    table = Table(f"Revocations of {account.name}", _COLUMNS, rows, empty="No revocations")
    return Result([table])


@command(
    "add",
    examples=[
        "jsctl auth account revocations add alice ORDERS",
        "jsctl auth account revocations add '*' ORDERS --at 24h",
        "jsctl auth account revocations add SHOP ORDERS --export prices.get",
    ],
)
@argument("name", metavar="NAME|KEY|*")
@of_account
@option(
    "--export",
    selects=True,
    metavar="SUBJECT",
    default="",
    help="Revoke activation tokens of this export",
)
@option(
    "--at", metavar="TIME|DURATION", default="", help="Refuse what was signed up to this time, by default now"
)
@dry_run_flag("Only show what would be revoked")
async def add(env: Env, name: str, account: str, operator: str, export: str, at: str) -> Result:
    """Revoke a user, all users (`*`) or, with --export, the activation tokens of an account.

    Servers refuse them once the account is pushed. What is signed later is valid.
    """
    now = seconds_to_ns(env.clock())
    try:
        time = (parse_past_time(at, now) if at else now) // SECOND
    except ValueError as error:
        raise BadInput(f"--at: {error}") from None
    store, owner = await pick_operator_account(env, operator, account)
    key = find_key(store, owner, name, of_export=bool(export))
    revocation = Revocation(export, key, time)
    text = f"what was signed for {name} up to {format_time(time * SECOND)}"
    facts = {"account": owner.name, "key": key, "export": export, "time": time}
    env.announce(Intent(f"revoke {text} in account {owner.name}", facts))
    owner = change_account(store, owner.name, lambda nats: add_revocation(nats, revocation, owner.name))
    return _show_list(store, owner)


@command("ls", columns=_COLUMNS, examples=["jsctl auth account revocations ls ORDERS"])
@of_account
async def ls(env: Env, account: str, operator: str) -> Result:
    """Show revocations of users, and of activation tokens by export."""
    store, owner = await pick_operator_account(env, operator, account)
    return _show_list(store, owner)


@command("rm", examples=["jsctl auth account revocations rm alice ORDERS --force"])
@argument("name", metavar="NAME|KEY|*")
@of_account
@option(
    "--export",
    metavar="SUBJECT",
    default="",
    selects=True,
    help="Export whose activation tokens the revocation is for",
)
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, name: str, account: str, operator: str, export: str, force: bool) -> Result:
    """Make old credentials valid again, once the account is pushed."""
    store, owner = await pick_operator_account(env, operator, account)
    listed = {revocation.key for revocation in list_revocations(owner.nats)}
    key = name if name in listed else find_key(store, owner, name, of_export=bool(export))
    remove_revocation(copy.deepcopy(owner.nats), export, key, owner.name)  # NotFound before the question
    facts = {"account": owner.name, "key": key, "export": export}
    await env.confirm(Intent(f"accept what was signed for {name} again", facts), force=force)
    owner = change_account(store, owner.name, lambda nats: remove_revocation(nats, export, key, owner.name))
    return _show_list(store, owner)._replace(is_report=True)
