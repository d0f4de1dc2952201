"""`jsctl auth user credential`."""

from dataclasses import dataclass
from pathlib import Path

from jsctl.auth.changes import sign_copy
from jsctl.auth.settings import parse_expiry
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.commands.auth.credentials import check_free, save_context, write_creds
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.picking.auth import of_account, pick_operator, pick_user, pick_user_account, user_argument
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.intent import file_intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    file: str
    name: str
    account: str
    operator: str
    expire: str
    save_context: str
    force: bool


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
async def credential(env: Env, options: Options) -> Result:
    """Sign a new JWT for the file if --expire is used; the user in the store does not change."""
    check_free(options.file, force=options.force)
    if options.save_context:
        env.contexts.path(options.save_context)  # BadInput before anything is written
    store = await pick_operator(env, options.operator)
    _refuse_user_as_file(store, options)
    account = await pick_user_account(env, store, options.name, options.account)
    user = await pick_user(env, store, account, options.name)
    claims = parse_expiry(options.expire, env.clock())
    token = sign_copy(store, user, claims) if claims else user.token
    data = {"user": user.name, "account": account.name, "file": options.file, "expiry": claims.get("exp")}
    env.announce(file_intent(f"the credentials of {user.name}", Path(options.file), data))
    write_creds(store, user, options.file, token)
    if options.save_context:
        save_context(env, store, account, user, options.save_context, options.file)
    env.say(f"jsctl: wrote the credentials of {user.name} to {options.file}")
    return Result(data=data)


def _refuse_user_as_file(store: AuthStore, options: Options) -> None:
    """Raise BadInput for a command line that names a user in place of the file."""
    name, account = options.file, options.account or options.name
    if options.account or any(
        options.name in store.list_user_names(account_name) for account_name in store.list_account_names()
    ):
        return
    if any(
        name in store.list_user_names(account_name)
        for account_name in store.list_account_names()
        if account in ("", account_name)
    ):
        line = build_line("auth user credential", f"{name}.creds", name, *([account] if account else []))
        raise BadInput("the file to write is missing", f"use {line}")
