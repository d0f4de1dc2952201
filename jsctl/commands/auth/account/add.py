"""`jsctl auth account add`."""

from dataclasses import dataclass, replace

from jsctl.auth.changes import create_account
from jsctl.auth.settings import parse_expiry
from jsctl.commands.auth.account.flags import SECTIONS, AccountFlags, account_flags
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.auth import ask_name, operator_option, pick_operator
from jsctl.env import Env
from jsctl.prompts import auth as questions
from jsctl.views.auth import account as view
from jsctl.views.result import Result


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
