"""`jsctl auth account imports edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.claims import Json, find_local_subject, set_or_drop
from jsctl.auth.sharing import SERVICE, check_activation, check_local, find_import, get_kind, sign_import
from jsctl.base.files import read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.auth.account.exports.choose import pick_import
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.auth import sharing as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
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
async def edit(env: Env, options: Options) -> Result:
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
    return view.import_sheet(find_import(account.nats, local, account.name), store, account)
