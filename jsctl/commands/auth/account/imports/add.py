"""`jsctl auth account imports add`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.keys import ACCOUNT, is_public_key
from jsctl.auth.records import Json, Record
from jsctl.auth.sharing import (
    add_import,
    build_import,
    check_activation,
    find_matching_exports,
    get_kind,
    sign_import,
)
from jsctl.auth.store import AuthStore
from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import of_account, pick_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


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
    return view.import_sheet(imported, store, account)


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
