"""`jsctl auth account imports`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.claims import find_local_subject, set_or_drop
from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.auth.records import Json, Record, remove_member
from jsctl.auth.sharing import (
    SERVICE,
    add_import,
    build_import,
    check_activation,
    check_local,
    find_import,
    find_matching_exports,
    get_kind,
    sign_import,
)
from jsctl.auth.store import AuthStore
from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import (
    account_argument,
    of_account,
    operator_argument,
    pick_account,
    pick_import,
    pick_operator_account,
)
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.views.auth import sharing as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


@dataclass(frozen=True, slots=True)
class Options:
    name: str
    subject: str
    account: str
    operator: str
    source: str
    local: str
    share: bool
    traceable: bool
    service: bool
    token: str

    def __post_init__(self) -> None:
        if self.share and not self.service:
            raise BadInput("--share is only for services", "add --service")
        if self.traceable and self.service:
            raise BadInput("--traceable is only for streams", "leave out --service")


@command(
    "add",
    examples=[
        "jsctl auth account imports add orders 'orders.>' SHOP --source ORDERS",
        "jsctl auth account imports add prices prices.get SHOP --source ORDERS --service --local shop.prices",
    ],
)
@argument("name")
@argument("subject")
@of_account
@option(
    "--source",
    metavar="ACCOUNT|KEY",
    default="",
    help="Account that exports; a key if it is not in the store",
)
@option("--local", metavar="SUBJECT", default="", help="Subject in this account, by default the same")
@option("--share", is_flag=True, help="Share the requester's identity with the service, for latencies")
@option("--traceable", is_flag=True, help="Let traces of messages come through the stream")
@option("--service", is_flag=True, help="Import a service, which answers requests, instead of a stream")
@option("--token", metavar="FILE", default="", help="File of the activation token for a private export")
async def add(env: Env, options: Options) -> Result:
    """If the export is private and its account is in the store, sign the activation token, too."""
    store, account = await pick_operator_account(env, options.operator, options.account)
    source = await _resolve_source(env, store, options.source, account)
    public = source.public if source else options.source
    imported = build_import(options.name, options.subject, public, options.service, options.local)
    if options.share:
        imported["share"] = True
    if options.traceable:
        imported["allow_trace"] = True
    if options.token:
        imported["token"] = check_activation(
            store, read_text(expand_home(options.token)), account.public, public
        )
    elif source:
        _activate(env, store, source, account, imported)
    change_account(store, account.name, lambda nats: add_import(nats, imported, account.name))
    return view.import_page(imported, store, account)


async def _resolve_source(env: Env, store: AuthStore, name: str, account: Record) -> Record | None:
    """Return the exporting account; None for one that is not in the store."""
    try:
        source = await pick_account(env, store, name, flag="--source")
    except NotFound:
        if is_public_key(name, ACCOUNT):
            return None
        raise
    if source.public == account.public:
        raise BadInput(f"account {account.name} cannot import from itself", "use another --source")
    return source


def _activate(env: Env, store: AuthStore, source: Record, account: Record, imported: Json) -> None:
    """Sign an activation token if the export requires one; warn if the account does not export the subject.

    Raises BadInput for a private export of an account whose seed is not in the store.
    """
    exports = find_matching_exports(source.nats, imported["subject"], get_kind(imported))
    if not exports:
        env.say(
            f"jsctl: account {source.name} does not export {imported['subject']} as a {get_kind(imported)}"
        )
    elif all(export.get("token_req") for export in exports):
        imported["token"] = sign_import(store, account, imported)
        if not imported["token"]:
            raise BadInput("the export is private", "specify the file of an activation token with --token")
        env.inform(f"jsctl: the export is private; signed an activation token with the key of {source.name}")


@command("info", examples=["jsctl auth account imports info 'orders.>' SHOP"])
@argument("subject", default="")
@of_account
async def info(env: Env, subject: str, account: str, operator: str) -> Result:
    """Show the import that has SUBJECT in this account."""
    store, owner = await pick_operator_account(env, operator, account)
    return view.import_page(await pick_import(env, owner, subject), store, owner)


@dataclass(frozen=True, slots=True)
class EditOptions:
    subject: str
    account: str
    operator: str
    local: str
    share: bool | None
    traceable: bool | None
    token: str | None
    activate: bool

    def __post_init__(self) -> None:
        if self.token and self.activate:
            raise BadInput("--token and --activate cannot be used together", "leave out one of them")


@command("edit", examples=["jsctl auth account imports edit 'orders.>' SHOP --local 'shop.orders.>'"])
@argument("subject")
@of_account
@option("--local", metavar="SUBJECT", default="", help="New subject in this account")
@option("--share/--no-share", default=None, help="Share the requester's identity with the service, or not")
@option("--traceable/--no-traceable", default=None, help="Let traces of messages come through, or not")
@option("--token", metavar="FILE", default=None, help="File of a new activation token; empty removes it")
@option("--activate", is_flag=True, help="Sign a new activation token with the key of the exporting account")
async def edit(env: Env, options: EditOptions) -> Result:
    """Change what the flags name; other settings stay as they are. SUBJECT is the subject in this account."""
    flags = (options.token, options.share, options.traceable, options.activate or None)
    if not options.local and all(flag is None for flag in flags):
        raise BadInput("there is nothing to change", "use flags for what to set")
    store, account = await pick_operator_account(env, options.operator, options.account)
    imported = await pick_import(env, account, options.subject)
    service = get_kind(imported) == SERVICE
    if options.share and not service:
        raise BadInput(f"--share is only for services; {options.subject} is a stream", "leave out --share")
    if options.traceable and service:
        raise BadInput(
            f"--traceable is only for streams; {options.subject} is a service", "leave out --traceable"
        )
    token, file = "", options.token
    if options.activate:
        token = sign_import(store, account, imported)
        if not token:
            file = await env.prompter.text("File of the activation token", flag="--token")
    if file:
        text = read_text(expand_home(file))
        token = check_activation(store, text, account.public, str(imported.get("account")))

    def change(nats: Json) -> None:
        claim = find_import(nats, options.subject, account.name)
        if options.local:
            claim["local_subject"] = check_local(str(claim.get("subject")), options.local)
            claim.pop("to", None)
        for key, value in (("share", options.share), ("allow_trace", options.traceable)):
            if value is not None:
                set_or_drop(claim, key, value)
        if token or options.token == "":
            set_or_drop(claim, "token", token)

    account = change_account(store, account.name, change)
    local = options.local or find_local_subject(imported)
    return view.import_page(find_import(account.nats, local, account.name), store, account)


@command(
    "ls",
    columns=view.IMPORT_COLUMNS,
    examples=["jsctl auth account imports ls SHOP", "jsctl auth account imports ls SHOP ACME"],
)
@account_argument()
@operator_argument("operator")
async def ls(env: Env, account: str, operator: str) -> Result:
    store, owner = await pick_operator_account(env, operator, account)
    return view.imports(owner, store)


@command("rm", examples=["jsctl auth account imports rm 'orders.>' SHOP --force"])
@argument("subject")
@of_account
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, subject: str, account: str, operator: str, force: bool) -> Result:
    """Remove the import at SUBJECT in this account."""
    store, owner = await pick_operator_account(env, operator, account)
    await pick_import(env, owner, subject)
    data = {"account": owner.name, "removed": subject}
    await env.confirm(Intent(f"remove the import {subject} of {owner.name}", data), force=force)

    def change(nats: Json) -> None:
        remove_member(nats, "imports", find_import(nats, subject, owner.name))

    change_account(store, owner.name, change)
    return report(f"The import {subject} was removed from {owner.name}", data)
