"""`jsctl auth account edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_account
from jsctl.auth.keys import ACCOUNT
from jsctl.auth.settings import parse_expiry, refuse_jetstream_of_system
from jsctl.auth.store import require_genuine
from jsctl.commands.auth.account.flags import SECTIONS, AccountFlags, account_flags
from jsctl.commands.cli import command, option
from jsctl.commands.operators.signing import SigningFlags, accept_claims, build_resigning, signing_flags
from jsctl.commands.picking.auth import of_account, pick_operator_account
from jsctl.env import Env
from jsctl.views.auth import account as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
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
async def edit(env: Env, options: Options) -> Result:
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
