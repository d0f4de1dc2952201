"""`jsctl auth user` and its commands."""

from functools import partial
from pathlib import Path

from jsctl.auth.changes import change_account, sign_copy
from jsctl.auth.revocations import Revocation, add_revocation
from jsctl.auth.settings import parse_expiry
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.commands.auth import credentials
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import (
    load_each,
    of_account,
    pick_operator,
    pick_operator_account,
    pick_operator_user,
    pick_user,
    pick_user_account,
    user_argument,
)
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.views.auth import user as view
from jsctl.views.intent import Intent, file_intent
from jsctl.views.result import Result, list_names, report


@command("info", examples=["jsctl auth user info alice ORDERS", "jsctl auth user info alice --json"])
@user_argument()
@of_account
async def info(env: Env, name: str, account: str, operator: str) -> Result:
    """Print the claims as they are in the JWT with --json."""
    _, owner, user = await pick_operator_user(env, operator, account, name)
    return view.info_page(user, owner)


@command(
    "ls", columns=view.COLUMNS, examples=["jsctl auth user ls ORDERS", "jsctl auth user ls ORDERS --names"]
)
@of_account
@option("--names", is_flag=True, help="Only names, one per line")
async def ls(env: Env, account: str, operator: str, names: bool) -> Result:
    store, owner = await pick_operator_account(env, operator, account, doubted=True)
    if names:
        return list_names(store.list_user_names(owner.name))
    names_of_users = store.list_user_names(owner.name)
    return view.listing(owner, load_each(env, names_of_users, partial(store.load_user, owner.name)))


@command(
    "rm", examples=["jsctl auth user rm alice ORDERS", "jsctl auth user rm alice ORDERS --revoke --force"]
)
@user_argument()
@of_account
@option("--revoke", is_flag=True, help="Revoke the user, too, so that servers refuse them after a push")
@destructive("Remove without asking", missing_ok=True)
async def rm(env: Env, name: str, account: str, operator: str, revoke: bool, force: bool) -> Result:
    """Remove the credentials and the seed from the store. Without --revoke, copies of the credentials remain
    valid.
    """
    if force and not name:
        raise BadInput("--force needs the user's name", "specify NAME")
    store = await pick_operator(env, operator)
    owner = await pick_user_account(env, store, name, account, doubted=True)
    public = ""
    try:
        user = await pick_user(env, store, owner, name, doubted=True)
        name, public = user.name, user.public
    except (NotFound, BadInput):
        raise
    except JsctlError as error:  # the user's file is damaged; remove it anyway
        if revoke:
            raise
        env.say(f"jsctl: {error.message}")
    action = f"revoke and remove user {name}" if revoke else f"remove user {name}"
    facts = {"user": name, "account": owner.name, "key": public, "revoked": revoke}
    await env.confirm(Intent(f"{action} of account {owner.name}", facts), force=force)
    if revoke:
        revocation = Revocation("", public, int(env.clock()))
        change_account(store, owner.name, lambda nats: add_revocation(nats, revocation, owner.name))
    with store.locked():
        store.remove_user(owner.name, name)
        store.remove_seed(public)
    data = {"removed": name, "account": owner.name, "key": public, "revoked": revoke}
    return report(f"User {name} of {owner.name} was removed", data)


@command(
    "credential",
    examples=[
        "jsctl auth user credential alice.creds alice ORDERS",
        "jsctl auth user credential alice.creds alice ORDERS --expire 1h --save-context alice",
    ],
)
@argument("file")
@user_argument()
@of_account
@option(
    "--expire",
    metavar="DURATION|TIME",
    default="",
    help="How long, or until when, these credentials are valid",
)
@option("--save-context", metavar="NAME", default="", help="Save a context that logs in with the file")
@destructive("Overwrite the file")
async def credential(
    env: Env, file: str, name: str, account: str, operator: str, expire: str, save_context: str, force: bool
) -> Result:
    """Sign a new JWT for the file if --expire is used; the user in the store does not change."""
    credentials.check_free(file, force=force)
    if save_context:
        env.contexts.path(save_context)  # BadInput before anything is written
    store = await pick_operator(env, operator)
    _refuse_user_as_file(store, file, name, account)
    owner = await pick_user_account(env, store, name, account)
    user = await pick_user(env, store, owner, name)
    claims = parse_expiry(expire, env.clock())
    token = sign_copy(store, user, claims) if claims else user.token
    data = {"user": user.name, "account": owner.name, "file": file, "expiry": claims.get("exp")}
    env.announce(file_intent(f"the credentials of {user.name}", Path(file), data))
    credentials.write_creds(store, user, file, token)
    if save_context:
        credentials.save_context(env, store, owner, user, save_context, file)
    env.inform(f"jsctl: wrote the credentials of {user.name} to {file}")
    return Result(data=data)


def _refuse_user_as_file(store: AuthStore, file: str, name: str, account: str) -> None:
    """Raise BadInput for a command line that names a user in place of the file."""
    users = {owner: store.list_user_names(owner) for owner in store.list_account_names()}
    if account or any(name in names for names in users.values()):
        return
    if any(file in names for owner, names in users.items() if name in ("", owner)):
        line = build_line("auth user credential", f"{file}.creds", file, *([name] if name else []))
        raise BadInput("the file to write is missing", f"use {line}")
