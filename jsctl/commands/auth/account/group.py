"""`jsctl auth account` and its commands."""

from dataclasses import dataclass, replace

from jsctl.auth.changes import change_account, create_account
from jsctl.auth.claims import as_objects
from jsctl.auth.keys import ACCOUNT
from jsctl.auth.records import list_signing_keys
from jsctl.auth.removed import remove_account
from jsctl.auth.settings import parse_expiry, refuse_jetstream_of_system
from jsctl.auth.store import require_genuine
from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.auth.account.flags import SECTIONS, AccountFlags, account_flags
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.operators.signing import SigningFlags, accept_claims, build_resigning, signing_flags
from jsctl.commands.picking.auth import (
    ask_name,
    load_each,
    of_account,
    operator_argument,
    operator_option,
    pick_operator,
    pick_operator_account,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts import auth as questions
from jsctl.views.auth import account as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, list_names, report


@dataclass(frozen=True, slots=True)
class Options:
    account: str
    operator: str
    key: str
    defaults: bool
    flags: AccountFlags


@command(
    "add",
    sections=SECTIONS,
    examples=[
        "jsctl auth account add ORDERS --defaults",
        "jsctl auth account add ORDERS --jetstream --js-disk 10GB --js-memory 1GB --connections 100",
    ],
)
@argument("account", default="")
@operator_option()
@option("--key", metavar="KEY", default="", help="Public key of the operator that signs the account")
@account_flags("add")
@option("--defaults", is_flag=True, help="Do not ask: limits without a flag are unlimited")
async def add(env: Env, options: Options) -> Result:
    """Ask for the limits that no flag sets, on a terminal."""
    store = await pick_operator(env, options.operator)
    name = await ask_name(env, options.account, "account")
    settings = options.flags.build_settings()
    if options.defaults and settings.jetstream is None and settings.limits_jetstream:
        settings = replace(settings, jetstream=True)
    if env.can_ask and not options.defaults:
        settings = await questions.ask_account(env.prompter, env.say, settings)
    claims = parse_expiry(options.flags.expiry, env.clock())
    record = create_account(store, name, settings.apply, signer=options.key, claims=claims)
    return view.info_page(record, store)


@dataclass(frozen=True, slots=True)
class EditOptions:
    account: str
    operator: str
    key: str
    no_tags: tuple[str, ...]
    flags: AccountFlags
    signing: SigningFlags


@command(
    "edit",
    sections=SECTIONS,
    examples=["jsctl auth account edit ORDERS --connections 500 --js-disk 20GB"],
)
@of_account
@option("--key", metavar="KEY", default="", help="Public key of the operator that signs the account")
@account_flags("edit")
@option("--no-tags", metavar="TAG", multiple=True, help="Tags to remove; may be repeated")
@signing_flags()
async def edit(env: Env, options: EditOptions) -> Result:
    """Change what the flags name; other settings stay as they are. An account that a key signed which is no
    longer the operator's needs --accept-claims: what it claims is shown first.

    jsctl auth account push sends the change to the servers.
    """
    flags = options.flags
    settings = flags.build_settings(options.no_tags)
    store, account = await pick_operator_account(env, options.operator, options.account, doubted=True)
    store.read_operator()
    accepted = await accept_claims(env, account, options.signing)
    require_genuine(account, accepted)
    claims = parse_expiry(flags.expiry, env.clock())

    def change(nats: dict[str, object]) -> None:
        settings.apply(nats)
        refuse_jetstream_of_system(nats, account.public, store.read_operator())

    resigning = build_resigning(env, ACCOUNT, account.name, options.signing, accepted)
    record = change_account(store, account.name, change, claims, options.key, resigning)
    if record.token == account.token:
        env.inform(f"account {account.name} was not changed")
    return view.info_page(record, store)


@command("info", examples=["jsctl auth account info ORDERS", "jsctl auth account info ORDERS --json"])
@of_account
async def info(env: Env, account: str, operator: str) -> Result:
    """Print the claims as they are in the JWT with --json, with the JWT itself and the names of the users."""
    store, owner = await pick_operator_account(env, operator, account, doubted=True)
    return view.info_page(owner, store)


@command("ls", columns=view.COLUMNS, examples=["jsctl auth account ls", "jsctl auth account ls ACME --names"])
@operator_argument("operator")
@option("--names", is_flag=True, help="Only names, one per line")
async def ls(env: Env, operator: str, names: bool) -> Result:
    store = await pick_operator(env, operator, flag="OPERATOR")
    if names:
        return list_names(store.list_account_names())
    accounts = load_each(env, store.list_account_names(), store.load_account)
    return view.listing(store, accounts, store.load_operator().system_account)


@command("rm", examples=["jsctl auth account rm OLD", "jsctl auth account rm OLD --force --keys"])
@of_account
@option("--keys", "remove_keys", is_flag=True, help="Remove the seeds of the account and its users, too")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, account: str, operator: str, remove_keys: bool, force: bool) -> Result:
    """Remove its users and their credentials, too. jsctl auth account push --all --prune removes them from
    the servers.
    """
    if force and not account:
        raise BadInput("--force needs the account's name", "specify ACCOUNT")
    store, owner = await pick_operator_account(env, operator, account, default=False, doubted=True)
    if store.load_operator().system_account == owner.public:
        raise BadInput(
            f"{owner.name} is the system account",
            "make another account the system account first:"
            f" {build_line('auth operator edit', store.operator, flags=['--system-account', 'NAME'])}",
        )
    users = store.load_users(owner.name)
    importing = [
        other.name
        for other in store.load_accounts()
        if any(claim.get("account") == owner.public for claim in as_objects(other.nats.get("imports")))
    ]
    if importing:
        env.say(f"jsctl: {', '.join(importing)} import from it")
    description = f"account {owner.name}" + (f" and its {pluralize(len(users), 'user')}" if users else "")
    data = {"removed": owner.name, "key": owner.public, "users": [user.name for user in users]}
    await env.confirm(Intent(f"remove {description}", data), force=force)
    with store.locked():
        remove_account(store, owner.name)
        if remove_keys:
            for public in [
                owner.public,
                *(key.public for key in list_signing_keys(owner.nats)),
                *(user.public for user in users),
            ]:
                store.remove_seed(public)
    return report(f"Account {owner.name} was removed", data)
