"""`jsctl auth user credential`."""

from pathlib import Path

from jsctl.auth.changes import sign_copy
from jsctl.auth.settings import parse_expiry
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.commands.auth import credentials
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import of_account, pick_operator, pick_user, pick_user_account, user_argument
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import file_intent
from jsctl.views.result import Result


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
