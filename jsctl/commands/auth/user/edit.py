"""`jsctl auth user edit`."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from jsctl.auth import keys
from jsctl.auth.changes import change_user
from jsctl.auth.environment import read_claims
from jsctl.auth.fields import USER
from jsctl.auth.records import Account, Json, Record, User, list_signing_keys
from jsctl.auth.resigning import (
    Signing,
    find_revoked_time,
    list_wanted_tags,
    needs_role,
    plan_signing,
)
from jsctl.auth.settings import UserSettings, change_tags, parse_expiry
from jsctl.auth.signatures import find_user_doubt
from jsctl.auth.store import AuthStore, read_creds_jwt, require_genuine
from jsctl.base.command_lines import build_line
from jsctl.base.units import format_time, seconds_to_ns
from jsctl.commands.auth.credentials import check_free, write_creds
from jsctl.commands.auth.user.flags import SECTIONS
from jsctl.commands.cli import command, option
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.operators.signing import SigningFlags, accept_claims, build_resigning, signing_flags
from jsctl.commands.picking.auth import (
    expiry_option,
    of_account,
    pick_operator_user,
    pick_signing_key,
    user_argument,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.prompts.prompter import check_filled
from jsctl.views.auth import user as view
from jsctl.views.intent import file_intent
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
    config: ConfigFlags
    tags: tuple[str, ...]
    signing: SigningFlags


@command(
    "edit",
    sections=SECTIONS,
    examples=[
        "jsctl auth user edit alice ORDERS --pub-allow 'orders.>' --expiry 90d --credential alice.creds"
    ],
)
@user_argument()
@of_account
@option(
    "--key",
    metavar="ROLE|KEY",
    default="",
    help="Sign the user with another key, by its role or public key; the role then sets what is allowed",
)
@expiry_option("the user")
@config_flags(USER, "edit")
@option("--tags", metavar="TAG", multiple=True, help="Tags to add; may be repeated")
@option("--no-tags", metavar="TAG", multiple=True, help="Tags to remove; may be repeated")
@option("--credential", metavar="FILE", default="", help="Write the credentials to a file")
@signing_flags()
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are. A user who had a role and gets a key
    without one keeps the role's permissions and limits.

    The user needs new credentials for the change to take effect; they are also saved in the store.
    """
    settings = UserSettings(options.config.values, options.tags, options.no_tags)
    check_free(options.credential, force=True)
    store, account, user = await pick_operator_user(env, options.operator, options.account, options.name)
    require_genuine(account)
    accepted = await accept_claims(env, user, options.signing, _read_genuine(store, account, user))
    require_genuine(user, accepted)
    signing = await _choose_key(env, store, account, user, options.key)
    if signing.role:
        settings.refuse_in_scope(signing.role)
    if signing.loses:
        env.say(f"jsctl: role {signing.role} replaces the permissions and limits of {user.name}")
    tags = [
        f"{name}:{await _ask_tag(env, name)}"
        for name in list_wanted_tags(account, user, signing)
        if not any(tag.lower().startswith(f"{name}:") for tag in options.tags)
    ]
    claims = parse_expiry(options.expiry, env.clock())
    await _wait_for_revocation(env, account, user, required=options.signing.sign_again)

    def change(nats: Json) -> None:
        signing.change(nats)
        settings.apply(nats)
        change_tags(nats, tags, ())

    before = user.token
    resigning = build_resigning(env, keys.USER, user.name, options.signing, accepted)
    user = change_user(store, account, user.name, change, claims, signing.signer, resigning)
    if options.credential:
        env.announce(file_intent(f"the credentials of {user.name}", Path(options.credential)))
    if user.token == before:
        env.inform(f"user {user.name} was not changed")
    if options.credential:
        write_creds(store, user, options.credential)
    return view.info_page(user, account)


def _read_genuine(store: AuthStore, account: Account, user: User) -> Record | None:
    """Return the user as the credentials in the store have it, if they are genuine; else None."""
    token = read_creds_jwt(store.get_creds_path(account.name, user.name))
    claims = read_claims(token)
    if not claims or find_user_doubt(user.name, token, claims, account.claims, account.name):
        return None
    return Record(user.name, token, claims)


async def _choose_key(env: Env, store: AuthStore, account: Account, user: User, name: str) -> Signing:
    """Return how the user is signed; ask for the role if the user's own is gone. Raises BadInput."""
    if not name and env.can_ask and needs_role(store, account, user):
        roles = [key for key in list_signing_keys(account.nats) if key.scope is not None]
        if roles:
            env.say(f"jsctl: the key that signed {user.name} is gone, and its role with it")
            name = (await pick_signing_key(env, account, "", "--key", roles)).public
    return plan_signing(store, account, user, name)


async def _ask_tag(env: Env, name: str) -> str:
    """Return the value of a tag that the user's role needs. Raises BadInput without a terminal."""
    if not env.can_ask:
        raise BadInput(f"the role of the user needs a tag {name}", f"specify it with --tags {name}:VALUE")
    return await env.prompter.text(f"Tag {name}", flag="--tags", check=check_filled)


async def _wait_for_revocation(env: Env, account: Account, user: User, *, required: bool) -> None:
    """Wait until a JWT that is signed now is not revoked, if that is within a second. required: it must not
    be. Raises BadInput."""
    until = find_revoked_time(account, user, int(env.clock()))
    if until > env.clock() + 1:
        if not required:
            return
        raise BadInput(
            f"all JWTs of user {user.name} are revoked until {format_time(seconds_to_ns(until))}",
            f"remove that with {build_line('auth account revocations rm', user.name, account.name)}",
        )
    if until:
        await asyncio.sleep(max(0.0, until - env.clock()))
