"""`jsctl auth user edit`."""

from dataclasses import dataclass

from jsctl.auth.changes import change_user, find_signing_key, find_user_signer
from jsctl.auth.fields import USER
from jsctl.auth.records import get_signing_key, is_scoped
from jsctl.auth.settings import parse_expiry
from jsctl.commands.auth.credentials import check_free, write_creds
from jsctl.commands.auth.user.flags import SECTIONS, UserFlags
from jsctl.commands.cli import command, option
from jsctl.commands.shared.field_flags import config_flags
from jsctl.commands.shared.pick_auth import (
    account_argument,
    operator_option,
    pick_operator_user,
    user_argument,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.units import seconds_to_ns
from jsctl.views.auth import user as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    name: str
    account: str
    operator: str
    key: str
    expiry: str
    no_tags: tuple[str, ...]
    credential: str
    flags: UserFlags


@command(
    "edit",
    options=Options,
    sections=SECTIONS,
    examples=[
        "jsctl auth user edit alice ORDERS --pub-allow 'orders.>' --expiry 90d --credential alice.creds"
    ],
)
@user_argument()
@account_argument()
@operator_option()
@option("--key", metavar="KEY", default="", help="Sign the user with another key, without a scope")
@option(
    "--expiry",
    metavar="DURATION|TIME",
    default="",
    help="How long, or until when, the user is valid; 0 is forever",
)
@config_flags(USER, "edit")
@option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated")
@option("--no-tags", metavar="TAG", multiple=True, help="Tags to remove; may be repeated")
@option("--credential", metavar="FILE", default="", help="Write the credentials to a file")
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are.

    The user needs new credentials for the change to take effect; they are also saved in the store.
    """
    settings = options.flags.build_settings(options.no_tags)
    check_free(options.credential, force=True)
    store, account, user = await pick_operator_user(env, options.operator, options.account, options.name)
    if is_scoped(user, account.nats):
        key = get_signing_key(account.nats, user.issuer)
        settings.refuse_in_scope(key.role if key else "")
    signer = ""
    if options.key:
        if options.key != account.public and find_signing_key(account, options.key).scope is not None:
            raise BadInput("the key has a scope", "remove the user and add it again with --key")
        signer = find_user_signer(store, account, options.key).public
    claims = parse_expiry(options.expiry, seconds_to_ns(env.clock()))
    before = user.token
    user = change_user(store, account, user.name, settings.apply, claims, signer)
    if user.token == before:
        env.say(f"user {user.name} was not changed")
    if options.credential:
        write_creds(store, user, options.credential)
    return view.sheet(user, account)
